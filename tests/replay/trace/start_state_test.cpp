#include "replay/trace/start_state.hpp"

#include <string>
#include <string_view>

#include "replay/trace/normalise.hpp"
#include "sim/observe/draw.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/recording_text.hpp"

using namespace fragcast;

namespace {

Normalised normalised(std::string_view text, const StatedConditions& stated = {}) {
  const Recording recording = recording_from_text(text);
  return normalise(recording, recording.devices.front(), stated);
}

/// The blocks of the heap in which the recording begins.
std::string start_of(std::string_view text, const StatedConditions& stated = {}) {
  std::string drawn;
  for (const SegmentPicture& segment : normalised(text, stated).trace.initial.heap.segments) {
    drawn += draw_blocks(segment) + "\n";
  }
  return drawn;
}

}  // namespace

TEST_CASE("a block of the start is as large as its request rounds to") {
  CHECK(start_of(R"(
    free_requested 2MiB 600
    free_completed 2MiB 600
    segment 2MiB 2MiB small
    block 2MiB 2MiB 0 inactive)") == "[A 1K][. 2047K]\n");
}

TEST_CASE("a block of the start is padded only where the chip pads") {
  const std::string recording = R"(
    free_requested 2MiB 1024
    free_completed 2MiB 1024
    segment 2MiB 2MiB small
    block 2MiB 2MiB 0 inactive)";
  CHECK(start_of(recording) == "[A 1536][. 2095616]\n");
  CHECK(start_of(recording, {.soc = Soc::ascend950}) == "[A 1K][. 2047K]\n");
}

TEST_CASE("in a large segment a rest of at most 1 MiB before the next block was not split off") {
  const auto start = [](const std::string& second) {
    return start_of(R"(
      free_requested 20MiB 4194272
      free_completed 20MiB 4194272
      free_requested )" +
                    second + R"( 2097120
      free_completed )" +
                    second + R"( 2097120
      segment 20MiB 20MiB large
      block 20MiB 20MiB 0 inactive)");
  };
  CHECK(start("25MiB") == "[A 5M][A 2M][. 13M]\n");
  CHECK(start("25MiB+512") == "[A 4M][. 1049088][A 2M][. 13630976]\n");
}

TEST_CASE("in a large segment a rest of at most 1 MiB before its end was not split off") {
  CHECK(start_of(R"(
    free_requested 20MiB 20447200
    free_completed 20MiB 20447200
    segment 20MiB 20MiB large
    block 20MiB 20MiB 0 inactive)") == "[A 20M]\n");
}

TEST_CASE("in small and in expandable segments every rest was split off") {
  CHECK(start_of(R"(
    free_requested 2MiB 2000000
    free_completed 2MiB 2000000
    segment 2MiB 2MiB small
    block 2MiB 2MiB 0 inactive)") == "[A 2000384][. 96768]\n");
  CHECK(start_of(R"(
    free_requested 20MiB 20447200
    free_completed 20MiB 20447200
    segment 20MiB 20MiB large expandable
    block 20MiB 20MiB 0 inactive)") == "[A 19968K][. 512K]\n");
}

TEST_CASE("a block at or above max_split_size is a whole segment") {
  CHECK(start_of(R"(
    free_requested 20MiB 25165792
    free_completed 20MiB 25165792
    segment 20MiB 32MiB large
    block 20MiB 32MiB 0 inactive)",
                 {.settings = "max_split_size_mb:24"}) == "[A 32M]\n");
}

TEST_CASE("a rest before a free block shows when the history first allocates behind it") {
  const std::string before = R"(
    alloc )";
  const std::string after = R"( 2097120
    free_requested 20MiB 4194272
    free_completed 20MiB 4194272
    segment 20MiB 20MiB large
    block 20MiB 20MiB 0 inactive)";
  const auto start = [&](const std::string& address) { return start_of(before + address + after); };
  CHECK(start("24MiB") == "[A 4M][. 16M]\n");
  CHECK(start("24MiB+512KiB") == "[A 4608K][. 15872K]\n");
  CHECK(start("25MiB") == "[A 5M][. 15M]\n");

  const Recording seen = recording_from_text(before + "24MiB" + after);
  CHECK(normalise(seen, seen.devices.front(), {}).recorded.uncertain_sizes.empty());
}

TEST_CASE("a size stays uncertain where the block dies before anything shows") {
  const Normalised result = normalised(R"(
    free_requested 20MiB 4194272
    free_completed 20MiB 4194272
    alloc 24MiB+512KiB 2097120
    segment 20MiB 20MiB large
    block 20MiB 4718592 0 inactive
    block 24MiB+512KiB 2MiB 2097120 allocated
    block 26MiB+512KiB 14155776 0 inactive)");
  CHECK(result.recorded.uncertain_sizes == std::vector{AllocationId{0u}});
  CHECK(draw_blocks(result.trace.initial.heap.segments.front()) == "[A 4M][. 16M]");
}

TEST_CASE("a block of the final state that lies where the history allocated came later") {
  const Normalised result = normalised(R"(
    alloc 2MiB 600
    free_requested 2MiB 600
    free_completed 2MiB 600
    segment 2MiB 2MiB small
    block 2MiB 512 0 inactive
    block 2MiB+512 512 300 allocated
    block 2MiB+1024 2096128 0 inactive)");
  CHECK(result.anomalies[Anomaly::allocation_later] == 1);
  CHECK(draw_blocks(result.trace.initial.heap.segments.front()) == "[. 2M]");
}

TEST_CASE("a block that lies in no segment gets one of its own") {
  const Normalised result = normalised(R"(
    free_requested 2MiB 600
    free_completed 2MiB 600
    snapshot)");
  CHECK(result.anomalies[Anomaly::block_without_segment] == 1);
  REQUIRE(result.trace.initial.heap.segments.size() == 1);
  CHECK(draw_blocks(result.trace.initial.heap.segments.front()) == "[A 1K]");
}

TEST_CASE("a rounded size that would reach into the next block is cut, and counted") {
  const Normalised result = normalised(R"(
    free_requested 2MiB 1024
    free_completed 2MiB 1024
    free_requested 2MiB+1024 100
    free_completed 2MiB+1024 100
    segment 2MiB 2MiB small
    block 2MiB 2MiB 0 inactive)");
  CHECK(result.anomalies[Anomaly::block_does_not_fit] == 1);
  CHECK(draw_blocks(result.trace.initial.heap.segments.front()) == "[A 1K][A 512][. 2095616]");
}

TEST_CASE("initial blocks are numbered by stream and address, streams by their handles") {
  const Normalised result = normalised(R"(
    free_requested 2MiB 100 stream=90
    free_completed 2MiB 100 stream=90
    segment 2MiB 2MiB small stream=90
    block 2MiB 2MiB 0 inactive
    segment 4MiB 2MiB small stream=80
    block 4MiB 512 100 allocated
    block 4MiB+512 1024 900 allocated
    block 4MiB+1536 2095616 0 inactive)");
  CHECK(result.names.handles == std::vector<std::uint64_t>{80, 90});
  CHECK(draw(result.trace.initial.heap, BlockDetail::everything) ==
        "0x200000 small stream 1: [A2 512/100][. 2096640]\n"
        "0x400000 small stream 0: [A0 512/100][A1 1K/900][. 2095616]\n");
}

TEST_CASE("a stretch lies in the range that begins at the lowest address ever mapped in it") {
  const Normalised result = normalised(R"(
    segment_map 100MiB 20MiB
    alloc 100MiB 20000000
    segment_map 2000MiB 2MiB
    alloc 2000MiB 100
    segment 100MiB 20MiB large expandable
    block 100MiB 20000256 20000000 allocated
    block 100MiB+20000256 971264 0 inactive
    segment 160MiB 20MiB large expandable
    block 160MiB 20MiB 0 inactive
    segment 2000MiB 2MiB small expandable
    block 2000MiB 512 100 allocated
    block 2000MiB+512 2096640 0 inactive)");
  REQUIRE(result.trace.initial.heap.segments.size() == 1);
  const SegmentPicture& stretch = result.trace.initial.heap.segments.front();
  REQUIRE(stretch.range);
  CHECK(stretch.address == Address{160u << 20});
  CHECK(stretch.range->begin == Address{100u << 20});
  CHECK(stretch.range->size == round_up(72_GiB, 20_MiB));
  CHECK(stretch.page_size == 20_MiB);
  REQUIRE(result.trace.addresses.ranges.size() == 1);
  CHECK(result.trace.addresses.ranges.front().address == Address{2000u << 20});
  CHECK(result.trace.addresses.ranges.front().owner.kind == PoolKind::small);
}

TEST_CASE("memory unmapped before it was ever mapped is of the pool whose range it lies in") {
  const Normalised result = normalised(R"(
    segment_unmap 2004MiB 4MiB
    segment_map 2000MiB 2MiB
    alloc 2000MiB 100
    segment 2000MiB 2MiB small expandable
    block 2000MiB 512 100 allocated
    block 2000MiB+512 2096640 0 inactive)");
  REQUIRE(result.trace.initial.heap.segments.size() == 1);
  CHECK(result.trace.initial.heap.segments.front().kind == PoolKind::small);
  CHECK(result.trace.initial.heap.segments.front().range->begin == Address{2000u << 20});
}
