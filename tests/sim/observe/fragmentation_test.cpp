#include "sim/observe/fragmentation.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/parse_layout.hpp"

namespace fragcast {
namespace {

Fragmentation measure(std::string_view heap) { return measure_fragmentation(parse_layout(heap)); }

TEST_CASE("an allocated block is what was asked for and what rounding added", "[fragmentation]") {
  const Fragmentation gap = measure("[A 2M/1900K]");
  CHECK(gap.requested == 1900_KiB);
  CHECK(gap.rounding == 148_KiB);
  CHECK(gap.reserved() == 2_MiB);
}

TEST_CASE("blocks that wait for events or are held back are pending", "[fragmentation]") {
  const Fragmentation gap = measure("[P 2M/1M][H 1M][A 1M]");
  CHECK(gap.pending == 3_MiB);
  CHECK(gap.requested == 1_MiB);
  CHECK(gap.rounding == 0_B);
}

TEST_CASE("a free segment is releasable and free bytes beside a live block are pinned",
          "[fragmentation]") {
  const Fragmentation gap = measure("[. 20M]\n[A 2M][. 6M]\n");
  CHECK(gap.releasable == 20_MiB);
  CHECK(gap.pinned == 6_MiB);
  CHECK(gap.largest_free == 20_MiB);
}

TEST_CASE("free bytes beside a pending block are pinned by it", "[fragmentation]") {
  const Fragmentation gap = measure("[P 2M][. 6M]");
  CHECK(gap.pending == 2_MiB);
  CHECK(gap.pinned == 6_MiB);
}

TEST_CASE("of an expandable range the whole free pages are releasable", "[fragmentation]") {
  // Pages of 2 MiB:    |     2M     |     2M     |    2M     |
  //                    [A 1M][.  1M      2M        1M ][A 1M]
  const Fragmentation gap = measure("pages 2M: [A 1M][. 4M][A 1M]");
  CHECK(gap.releasable == 2_MiB);
  CHECK(gap.pinned == 2_MiB);
}

TEST_CASE("pages are counted from the base of the range, not from the mapped stretch",
          "[fragmentation]") {
  const Fragmentation gap =
      measure("0x200001400000 large stream 0 pages 20M of 0x200000000000+1G: [. 40M][A 20M]");
  CHECK(gap.releasable == 40_MiB);
  CHECK(gap.pinned == 0_B);
}

TEST_CASE("a free block smaller than a page releases nothing", "[fragmentation]") {
  const Fragmentation gap = measure("pages 20M: [A 1M][. 18M][A 1M]");
  CHECK(gap.releasable == 0_B);
  CHECK(gap.pinned == 18_MiB);
}

TEST_CASE("what a flush passes over is pinned even when it is free as a whole", "[fragmentation]") {
  const Fragmentation gap = measure("pool 1 kept: [. 2M]\npool 1 pages 2M kept: [. 4M]\n");
  CHECK(gap.releasable == 0_B);
  CHECK(gap.pinned == 6_MiB);
}

TEST_CASE("the parts add up to what is reserved", "[fragmentation]") {
  const Fragmentation gap = measure(
      "small: [A 512/300][P 1K][. 2095616]\n"
      "[. 20M]\n"
      "pages 2M: [. 3M][A 2M/1M][H 1M]\n");
  CHECK(gap.reserved() == 28_MiB);
  CHECK(gap.requested + gap.rounding == 2_MiB + 512_B);
  CHECK(gap.pending == 1_MiB + 1_KiB);
  CHECK(gap.releasable == 22_MiB);
  CHECK(gap.largest_free == 20_MiB);
}

TEST_CASE("an empty heap has no parts", "[fragmentation]") {
  CHECK(measure("") == Fragmentation{});
}

}  // namespace
}  // namespace fragcast
