#include "replay/trace/walk_back.hpp"

#include <fmt/format.h>

#include <string>

#include "replay/formats/input_error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/recording_text.hpp"

using namespace fragcast;

namespace {

WalkedBack walk(std::string_view text) {
  const Recording recording = recording_from_text(text);
  const RecordedDevice& device = recording.devices.front();
  return walk_back(recording, device, name_streams_and_pools(recording, device));
}

std::string blocks_of(const WalkedBack& walked) {
  std::string text;
  for (const StartBlock& block : walked.blocks) {
    text += fmt::format("[{} {}/{}{}{}]",
                        block.key.address.value() >> 20,
                        block.requested.count(),
                        block.size ? std::to_string(block.size->count()) : "?",
                        block.pending ? " pending" : "",
                        block.survives ? " survives" : "");
  }
  return text;
}

std::string reserved_of(const WalkedBack& walked) {
  std::string text;
  for (const auto& [key, stretch] : walked.reserved.stretches()) {
    text += fmt::format(
        "[{}+{}]", stretch.extent.begin.value() >> 20, stretch.extent.size.count() >> 20);
  }
  return text;
}

}  // namespace

TEST_CASE("a block that is freed and was never allocated was there at the beginning") {
  const WalkedBack walked = walk(R"(
    free_requested 2MiB 100
    free_completed 2MiB 100
    alloc 2MiB 300
    segment 2MiB 2MiB small
    block 2MiB 512 300 allocated
    block 2MiB+512 2096640 0 inactive)");
  CHECK(blocks_of(walked) == "[2 100/?]");
  CHECK(reserved_of(walked) == "[2+2]");
  CHECK(walked.anomalies.total() == 0);
}

TEST_CASE("a block that nothing frees has the size of the final state") {
  const WalkedBack walked = walk(R"(
    segment_alloc 4MiB 2MiB
    alloc 4MiB 300
    segment 2MiB 2MiB small
    block 2MiB 1024 600 allocated
    block 2MiB+1024 2096128 0 inactive
    segment 4MiB 2MiB small
    block 4MiB 512 300 allocated
    block 4MiB+512 2096640 0 inactive)");
  CHECK(blocks_of(walked) == "[2 600/1024 survives]");
  CHECK(reserved_of(walked) == "[2+2]");
}

TEST_CASE("segments given back were there, segments made were not") {
  const WalkedBack walked = walk(R"(
    segment_free 30MiB 20MiB
    segment_alloc 60MiB 2MiB
    alloc 60MiB 100
    segment 60MiB 2MiB small
    block 60MiB 2MiB 100 allocated)");
  CHECK(reserved_of(walked) == "[30+20]");
  CHECK(walked.peak_reserved == 20_MiB);
}

TEST_CASE("maps are cut out of the final stretch, unmapped memory grows back") {
  const WalkedBack walked = walk(R"(
    segment_unmap 160MiB 20MiB
    segment_map 120MiB 20MiB
    snapshot
    segment 100MiB 60MiB large expandable
    block 100MiB 60MiB 0 inactive)");
  CHECK(reserved_of(walked) == "[100+20][140+40]");
  CHECK(walked.anomalies.total() == 0);
}

TEST_CASE("a completion whose request fell off the ring marks a block that was pending") {
  const WalkedBack walked = walk(R"(
    free_completed 2MiB 100
    free_requested 2MiB+512 100
    free_completed 2MiB+512 100
    segment 2MiB 2MiB small
    block 2MiB 2MiB 0 inactive)");
  CHECK(blocks_of(walked) == "[2 100/? pending][2 100/?]");
  CHECK(walked.anomalies[Anomaly::completion_alone] == 1);
}

TEST_CASE("where no free request is recorded at all, completions are whole frees") {
  const WalkedBack walked = walk(R"(
    free_completed 2MiB 100
    alloc 2MiB 200
    free_completed 2MiB 200
    segment 2MiB 2MiB small
    block 2MiB 2MiB 0 inactive)");
  CHECK(blocks_of(walked) == "[2 100/?]");
  CHECK(walked.leaves_requests_out);
  CHECK(walked.anomalies.total() == 0);
}

TEST_CASE("a block pending at the end was live until its free was requested") {
  const WalkedBack walked = walk(R"(
    snapshot
    free_requested 2MiB 100
    segment 2MiB 2MiB small
    block 2MiB 512 100 pending
    block 2MiB+512 512 300 pending
    block 2MiB+1024 2096128 0 inactive)");
  CHECK(blocks_of(walked) == "[2 100/512][2 300/512 pending survives]");
  CHECK_FALSE(walked.leaves_completions_out);
  CHECK(walked.anomalies.total() == 0);
}

TEST_CASE("a final state newer than the history is tolerated and counted") {
  SECTION("a block was freed meanwhile") {
    const WalkedBack walked = walk(R"(
      alloc 2MiB 100
      alloc 2MiB+512 100
      segment 2MiB 2MiB small
      block 2MiB 2MiB 0 inactive)");
    CHECK(walked.blocks.empty());
    CHECK(walked.anomalies[Anomaly::allocation_gone] == 2);
  }
  SECTION("a block was freed and its place taken") {
    const WalkedBack walked = walk(R"(
      snapshot
      alloc 2MiB 100
      segment 2MiB 2MiB small
      block 2MiB 1024 900 allocated
      block 2MiB+1024 2096128 0 inactive)");
    CHECK(walked.blocks.empty());
    CHECK(walked.anomalies[Anomaly::allocation_replaced] == 1);
  }
  SECTION("a free was completed") {
    const WalkedBack walked = walk(R"(
      free_requested 2MiB 100
      free_requested 2MiB+512 100
      free_completed 2MiB+512 100
      segment 2MiB 2MiB small
      block 2MiB 2MiB 0 inactive)");
    CHECK(walked.anomalies[Anomaly::completion_missing] == 1);
  }
  SECTION("a freed block is live again") {
    const WalkedBack walked = walk(R"(
      free_requested 2MiB 100
      free_completed 2MiB 100
      segment 2MiB 2MiB small
      block 2MiB 1024 900 allocated
      block 2MiB+1024 2096128 0 inactive)");
    CHECK(blocks_of(walked) == "[2 100/?]");
    CHECK(walked.anomalies[Anomaly::free_undone] == 1);
  }
  SECTION("a segment is gone, another one is back") {
    const WalkedBack walked = walk(R"(
      segment_alloc 60MiB 20MiB
      segment_free 100MiB 20MiB
      segment 100MiB 20MiB large
      block 100MiB 20MiB 0 inactive)");
    CHECK(walked.anomalies[Anomaly::segment_gone] == 1);
    CHECK(walked.anomalies[Anomaly::segment_back] == 1);
    CHECK(reserved_of(walked) == "[100+20]");
  }
}

TEST_CASE("workspaces in front of a history are kept apart from it and from the segments") {
  const WalkedBack walked = walk(R"(
    workspace_snapshot 100MiB 40MiB stream=7
    segment_alloc 100MiB 40MiB stream=7
    alloc 100MiB 40MiB stream=7
    segment_alloc 100MiB 2MiB stream=9
    alloc 100MiB 100 stream=9
    segment 100MiB 40MiB large stream=7
    block 100MiB 40MiB 0 inactive
    segment 100MiB 2MiB small stream=9
    block 100MiB 512 100 allocated
    block 100MiB+512 2096640 0 inactive)");
  REQUIRE(walked.workspaces.size() == 1);
  CHECK(walked.workspaces.front().extent == Extent{Address{100u << 20}, 40_MiB});
  CHECK(walked.first_entry == 3);
  CHECK(walked.blocks.empty());
  CHECK(walked.reserved.total() == 0_B);
  CHECK(walked.anomalies.total() == 0);
}

TEST_CASE("failed requests come with what was held when they failed") {
  const WalkedBack walked = walk(R"(
    oom 30MiB 64MiB
    segment_free 100MiB 20MiB
    oom 50MiB 64MiB
    segment 200MiB 20MiB large
    block 200MiB 20MiB 0 inactive)");
  REQUIRE(walked.failures.size() == 2);
  CHECK(walked.failures[0].entry == 0);
  CHECK(walked.failures[0].reserved == 40_MiB);
  CHECK(walked.failures[1].reserved == 20_MiB);
  CHECK(walked.failures[1].device_free == 50_MiB);
  CHECK(walked.failures[1].tried == 64_MiB);
}

TEST_CASE("one entry, none, or a cut file make no history") {
  const std::string state = R"(
    segment 2MiB 2MiB small
    block 2MiB 512 100 allocated
    block 2MiB+512 2096640 0 inactive)";
  CHECK(walk(state).kind == HistoryKind::state_only);
  CHECK(walk("alloc 2MiB 100" + state).kind == HistoryKind::state_only);
  CHECK(blocks_of(walk("alloc 2MiB 100" + state)) == "[2 100/512 survives]");
  const std::string two = "segment_alloc 2MiB 2MiB\nalloc 2MiB 100";
  CHECK(walk(two + state).kind == HistoryKind::full);

  Recording cut = recording_from_text(two + state);
  cut.cut_at = 1000;
  const RecordedDevice& device = cut.devices.front();
  CHECK(walk_back(cut, device, name_streams_and_pools(cut, device)).kind ==
        HistoryKind::state_only);
}

TEST_CASE("impossible numbers and overlaps are refused in one sentence") {
  CHECK_THROWS_WITH(walk("alloc 2MiB 0x8000000000000000\nsnapshot"),
                    Catch::Contains("entry 0 of device 0 has an impossible size"));
  CHECK_THROWS_WITH(walk("alloc 0xf000000000000000 512\nsnapshot"),
                    Catch::Contains("entry 0 of device 0 has an impossible address"));
  CHECK_THROWS_AS(walk("segment 2MiB 4MiB large\nsegment 4MiB 4MiB large"), InputError);
  CHECK_THROWS_AS(walk("segment 2MiB 2MiB small\nblock 2MiB 3MiB 5 allocated"), InputError);
  CHECK_THROWS_AS(walk("segment 2MiB 2MiB small\nblock 2MiB 512 600 allocated"), InputError);
}

TEST_CASE("a request can fail for being absurd") {
  CHECK(walk("oom 30MiB 0x2000000000000000\nsnapshot").failures.size() == 1);
}
