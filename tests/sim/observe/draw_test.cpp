#include "sim/observe/draw.hpp"

#include <stdexcept>

#include "tests/support/catch.hpp"
#include "tests/support/parse_layout.hpp"

namespace fragcast {
namespace {

TEST_CASE("sizes are drawn in the largest unit that divides them", "[draw]") {
  CHECK(drawn_size(2_MiB) == "2M");
  CHECK(drawn_size(1536_KiB) == "1536K");
  CHECK(drawn_size(3_GiB) == "3G");
  CHECK(drawn_size(1_MiB + 512_B) == "1049088");
  CHECK(drawn_size(0_B) == "0");
}

TEST_CASE("a segment is drawn as its blocks in order of address", "[draw]") {
  const Layout heap = parse_layout("[A 2M][P 512K][H 512][. 6M]");
  CHECK(draw_blocks(heap.segments.front()) == "[A 2M][P 512K][H 512][. 6M]");
}

TEST_CASE("a heap is drawn as a line per segment with its heading", "[draw]") {
  const Layout heap = parse_layout(
      "small stream 1: [A 512][. 2096640]\n"
      "large pool 3 pages 2M kept: [. 4M]\n");
  CHECK(draw(heap) ==
        "0x100000000000 small stream 1: [A 512][. 2096640]\n"
        "0x100000200000 large stream 0 pool 3 pages 2M of 0x100000200000+4M kept: [. 4M]\n");
}

TEST_CASE("drawing everything names allocations and what they asked for", "[draw]") {
  const Layout heap = parse_layout("[A17 2M/2097120][A 1M][. 1M/512][. 4M]");
  CHECK(draw_blocks(heap.segments.front(), BlockDetail::everything) ==
        "[A17 2M/2097120][A18 1M][. 1M/512][. 4M]");
}

TEST_CASE("a heap drawn with everything reads back as the same heap", "[draw]") {
  const Layout heap = parse_layout(
      "0x100000000000 small stream 1 pool 2: [A7 512/300][P8 1K][. 2095616/77]\n"
      "0x200000a00000 large stream 0 pages 20M of 0x200000000000+72G kept: [H 20M/1000][. 20M]\n");
  CHECK(parse_layout(draw(heap, BlockDetail::everything)) == heap);
}

TEST_CASE("the surroundings of an address show its block and the neighbouring segments", "[draw]") {
  const Layout heap = parse_layout("[A 2M]\n[A 2M][. 6M]\n[. 2M]\n[A 4M]\n");
  CHECK(draw_around(heap, Address{0x100000400000}) ==
        "    0x100000000000 large stream 0: [A0 2M]\n"
        "  > 0x100000200000 large stream 0: [A1 2M] >[. 6M]< \n"
        "    0x100000a00000 large stream 0: [. 2M]\n");
}

TEST_CASE("the surroundings of an address outside all segments show what it lies between",
          "[draw]") {
  const Layout heap = parse_layout("0x100000000000: [A 2M]\n0x100010000000: [A 2M]\n");
  CHECK(draw_around(heap, Address{0x100000400000}) ==
        "    0x100000000000 large stream 0: [A0 2M]\n"
        "  > 0x100000400000: in no segment\n"
        "    0x100010000000 large stream 0: [A1 2M]\n");
}

TEST_CASE("blocks far from the address are counted, not drawn", "[draw]") {
  std::string text = "[. 2M]\n";
  for (int i = 0; i < 40; ++i) text += "[A 1M]";
  const std::string drawing = draw_around(parse_layout(text), Address{0x100000200000 + (20 << 20)});
  CHECK(drawing ==
        "    0x100000000000 large stream 0: [. 2M]\n"
        "  > 0x100000200000 large stream 0: (14 more) [A14 1M][A15 1M][A16 1M][A17 1M][A18 1M]"
        "[A19 1M] >[A20 1M]< [A21 1M][A22 1M][A23 1M][A24 1M][A25 1M][A26 1M] (13 more)\n");
}

TEST_CASE("a drawing that cannot be read says where", "[draw]") {
  CHECK_THROWS_WITH(parse_layout("[A 2M][? 2M]"), "cannot read as a heap: '? 2M]'");
  CHECK_THROWS_AS(parse_layout("[A two]"), std::invalid_argument);
  CHECK_THROWS_AS(parse_layout("large [A 2M]"), std::invalid_argument);
}

}  // namespace
}  // namespace fragcast
