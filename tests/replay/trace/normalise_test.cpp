#include "replay/trace/normalise.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "replay/formats/call_script.hpp"
#include "replay/formats/snapshot_reader.hpp"
#include "sim/observe/draw.hpp"
#include "sim/observe/fragmentation.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/recording_text.hpp"
#include "tests/support/recordings.hpp"

using namespace fragcast;

namespace {

Normalised normalised(std::string_view text, const StatedConditions& stated = {}) {
  const Recording recording = recording_from_text(text);
  return normalise(recording, recording.devices.front(), stated);
}

/// The events as lines of a call script, joined by "; ".
std::string events_of(const Trace& trace) {
  std::string text;
  for (const Event& event : trace.events) {
    if (!text.empty()) text += "; ";
    text += call_line(trace, event);
  }
  return text;
}

std::string events_of(std::string_view text, const StatedConditions& stated = {}) {
  return events_of(normalised(text, stated).trace);
}

/// A small segment and an empty final state of it.
const std::string small_segment = R"(
  segment 2MiB 2MiB small
  block 2MiB 2MiB 0 inactive)";

}  // namespace

TEST_CASE("allocations and frees become events in order, numbered by birth") {
  const Normalised result = normalised(R"(
    segment_alloc 2MiB 2MiB
    alloc 2MiB 100
    alloc 2MiB+512 200
    free_requested 2MiB 100
    free_completed 2MiB 100
    alloc 2MiB 300
    segment 2MiB 2MiB small
    block 2MiB 512 300 allocated
    block 2MiB+512 512 200 allocated
    block 2MiB+1024 2096128 0 inactive)");
  CHECK(events_of(result.trace) == "malloc 0 100 0; malloc 1 200 0; free 0; malloc 2 300 0");
  CHECK(result.trace.initial.empty());
  CHECK(result.trace.source_entries == 6);
  CHECK(result.trace.events[2].source == 3);
  CHECK(result.trace.events[3].source == 5);
  CHECK(result.recorded.addresses ==
        std::vector{Address{2u << 20}, Address{(2u << 20) + 512}, Address{2u << 20}});
  CHECK(result.recorded.segment_events.size() == 1);
  CHECK(result.recorded.device_allocs == 1);
  CHECK(result.recorded.peak_reserved == 2_MiB);
  CHECK(result.trace.addresses.segments.size() == 1);
  CHECK_FALSE(result.trace.conditions.instant_events);
}

TEST_CASE("a free that completes later is held back by a stream of its own") {
  CHECK(events_of(R"(
    free_requested 2MiB 100
    alloc 2MiB+1024 50
    free_completed 2MiB 100
    alloc 2MiB 60
    segment 2MiB 2MiB small
    block 2MiB 512 60 allocated
    block 2MiB+512 512 0 inactive
    block 2MiB+1024 512 50 allocated
    block 2MiB+1536 2095616 0 inactive)") ==
        "record_stream 0 1; free 0; malloc 1 50 0; complete_events 1; malloc 2 60 0");
}

TEST_CASE("streams that hold frees back are used again, and all at once completes them together") {
  CHECK(events_of(R"(
    free_requested 2MiB 100
    free_requested 2MiB+512 100
    free_completed 2MiB 100
    free_requested 2MiB+1024 100
    free_requested 2MiB+1536 100
    free_completed 2MiB+1024 100
    free_completed 2MiB+1536 100
    free_completed 2MiB+512 100
    alloc 2MiB 5
    segment 2MiB 2MiB small
    block 2MiB 512 5 allocated
    block 2MiB+512 2096640 0 inactive)") ==
        "record_stream 0 1; free 0; record_stream 1 2; free 1; complete_events 1; "
        "record_stream 2 1; free 2; record_stream 3 3; free 3; complete_events; malloc 4 5 0");
}

TEST_CASE("a block that was pending at the start is held back from the start on") {
  const Normalised result = normalised(R"(
    free_completed 2MiB 100
    alloc 2MiB 60
    segment 2MiB 2MiB small
    block 2MiB 512 60 allocated
    block 2MiB+512 512 70 pending
    block 2MiB+1024 2096128 0 inactive)");
  REQUIRE(result.trace.initial.pending.size() == 1);
  CHECK(result.trace.initial.pending.front().allocation == AllocationId{1u});
  CHECK(draw_blocks(result.trace.initial.heap.segments.front()) == "[A 512][P 512][. 2047K]");
}

TEST_CASE("a free completed at once is pending if the request behind it would have fitted") {
  const std::string recording = R"(
    free_requested 20MiB 8000000
    free_completed 20MiB 8000000
    segment_free 60MiB 2MiB
    oom 4MiB 7000064
    segment 20MiB 20MiB large
    block 20MiB 20MiB 0 inactive)";
  CHECK(events_of(recording) == "record_stream 0 1; free 0; malloc 1 7000064 0; complete_events 1");
  const std::string too_large = R"(
    free_requested 20MiB 8000000
    free_completed 20MiB 8000000
    segment_free 60MiB 2MiB
    oom 4MiB 9000960
    segment 20MiB 20MiB large
    block 20MiB 20MiB 0 inactive)";
  CHECK(events_of(too_large) == "free 0; malloc 1 9000960 0");
}

TEST_CASE("a failed request is one allocation, however often it is repeated") {
  const Normalised result = normalised(R"(
    oom 4MiB 20MiB
    free_requested 2MiB 100
    free_completed 2MiB 100
    oom 4MiB 20MiB
    oom 4MiB 40MiB
    alloc 2MiB 100
    oom 4MiB 40MiB
    segment 2MiB 2MiB small
    block 2MiB 512 100 allocated
    block 2MiB+512 2096640 0 inactive)");
  CHECK(events_of(result.trace) ==
        "malloc 1 20971520 0; free 0; malloc 1 20971520 0; malloc 2 41943040 0; malloc 3 100 0; "
        "malloc 4 41943040 0");
  CHECK(result.trace.events[0].failed_in_recording);
  CHECK_FALSE(result.trace.events[4].failed_in_recording);
  CHECK(result.recorded.failures == 4);
  CHECK(result.recorded.addresses[1] == Address{});
}

TEST_CASE("released memory becomes an empty_cache call at the request it follows") {
  const Normalised result = normalised(R"(
    alloc 2MiB 100
    free_requested 2MiB+512 100
    free_completed 2MiB+512 100
    segment_free 60MiB 20MiB
    segment_free 90MiB 2MiB
    segment_alloc 120MiB 20MiB
    alloc 120MiB 8000000
    segment 2MiB 2MiB small
    block 2MiB 512 100 allocated
    block 2MiB+512 2096640 0 inactive
    segment 120MiB 20MiB large
    block 120MiB 20MiB 8000000 allocated)");
  CHECK(events_of(result.trace) == "malloc 1 100 0; free 0; empty_cache; malloc 2 8000000 0");
  REQUIRE(result.recorded.empty_cache_calls.size() == 1);
  const EmptyCacheCall& call = result.recorded.empty_cache_calls.front();
  CHECK(call.request == 2);
  CHECK(call.event == 2);
  CHECK(call.entry == 4);
  CHECK(call.released == 22_MiB);
  CHECK(call.releases == 2);
  CHECK(result.trace.events[2].source == 4);
}

TEST_CASE("the flush of a request that found no room is left to the model") {
  const std::string recording = R"(
    alloc 2MiB 100
    free_requested 2MiB+512 100
    free_completed 2MiB+512 100
    segment_free 60MiB 2MiB
    segment_alloc 120MiB 20MiB
    alloc 120MiB 8000000
    segment 2MiB 2MiB small
    block 2MiB 512 100 allocated
    block 2MiB+512 2096640 0 inactive
    segment 120MiB 20MiB large
    block 120MiB 20MiB 8000000 allocated)";
  CHECK(events_of(recording, {.device_memory = 23_MiB}) ==
        "malloc 1 100 0; free 0; malloc 2 8000000 0");
  CHECK(events_of(recording, {.device_memory = 24_MiB}) ==
        "malloc 1 100 0; free 0; empty_cache; malloc 2 8000000 0");
}

TEST_CASE("completions before an empty_cache call come before it, those of a flush come after") {
  const std::string recording = R"(
    free_requested 2MiB 100
    free_requested 2MiB+512 100
    free_completed 2MiB 100
    segment_free 60MiB 2MiB
    segment_alloc 120MiB 20MiB
    alloc 120MiB 8000000
    segment 2MiB 2MiB small
    block 2MiB 2MiB 0 inactive
    segment 120MiB 20MiB large
    block 120MiB 20MiB 8000000 allocated)";
  CHECK(events_of(recording) ==
        "record_stream 0 1; free 0; record_stream 1 2; free 1; complete_events 1; empty_cache; "
        "malloc 2 8000000 0");
  CHECK(events_of(recording, {.device_memory = 23_MiB}) ==
        "record_stream 0 1; free 0; record_stream 1 2; free 1; malloc 2 8000000 0; "
        "complete_events 1");
}

TEST_CASE("requests of private pools are made in the pool's scope, opened only at changes") {
  const Normalised result = normalised(R"(
    segment_alloc 2MiB 2MiB pool=5
    alloc 2MiB 100 pool=5
    alloc 2MiB+512 100 pool=5
    free_requested 2MiB 100 pool=5
    free_completed 2MiB 100 pool=5
    segment_alloc 4MiB 2MiB pool=0
    alloc 4MiB 100 pool=0
    alloc 2MiB 100 pool=5
    segment 2MiB 2MiB small pool=5
    block 2MiB 512 100 allocated
    block 2MiB+512 512 100 allocated
    block 2MiB+1024 2096128 0 inactive
    segment 4MiB 2MiB small
    block 4MiB 512 100 allocated
    block 4MiB+512 2096640 0 inactive)");
  CHECK(events_of(result.trace) ==
        "pool_create 1; pool_begin 1; malloc 0 100 0; malloc 1 100 0; free 0; "
        "pool_end 1; pool_release 1; malloc 2 100 0; pool_begin 1; malloc 3 100 0");
  CHECK(result.names.pool_ids.at(1).second == 5);
  CHECK(result.trace.controls.size() == 4);
}

TEST_CASE("a private pool whose memory is given back was released by then") {
  CHECK(events_of(R"(
    segment_alloc 2MiB 2MiB pool=5
    alloc 2MiB 100 pool=5
    free_requested 2MiB 100 pool=5
    free_completed 2MiB 100 pool=5
    segment_free 2MiB 2MiB pool=5
    segment_alloc 4MiB 2MiB pool=5
    alloc 4MiB 100 pool=5
    segment 4MiB 2MiB small pool=5
    block 4MiB 512 100 allocated
    block 4MiB+512 2096640 0 inactive)") ==
        "pool_create 1; pool_begin 1; malloc 0 100 0; free 0; pool_end 1; pool_release 1; "
        "pool_release 1; pool_empty 1; pool_create 2; pool_begin 2; malloc 1 100 0");
}

TEST_CASE("where entries carry no pools, the segment that holds a block says its pool") {
  CHECK(events_of(R"(
    segment_alloc 2MiB 2MiB
    alloc 2MiB 100
    segment 2MiB 2MiB small pool=5
    block 2MiB 512 100 allocated
    block 2MiB+512 2096640 0 inactive)") == "pool_create 1; pool_begin 1; malloc 0 100 0");
}

TEST_CASE("where one half of each free is not recorded, the other is the free") {
  CHECK(events_of("alloc 2MiB 100\nfree_completed 2MiB 100\nalloc 2MiB 7\nfree_completed 2MiB 7" +
                  small_segment) == "malloc 0 100 0; free 0; malloc 1 7 0; free 1");
  CHECK(events_of("alloc 2MiB 100\nfree_requested 2MiB 100\nalloc 2MiB 7\nfree_requested 2MiB 7" +
                  small_segment) == "malloc 0 100 0; free 0; malloc 1 7 0; free 1");
}

TEST_CASE("a history that allocates twice at one address takes the first block as freed") {
  const Normalised result = normalised("alloc 2MiB 100\nalloc 2MiB 200" + small_segment);
  CHECK(events_of(result.trace) == "malloc 0 100 0; free 0; malloc 1 200 0");
  CHECK(result.anomalies[Anomaly::allocation_over_live] == 1);
}

TEST_CASE("a state without a history has a heap and no events") {
  const Normalised result = normalised(R"(
    segment 2MiB 2MiB small
    block 2MiB 512 100 allocated
    block 2MiB+512 2096640 0 inactive)");
  CHECK(result.kind == HistoryKind::state_only);
  CHECK(result.trace.events.empty());
  CHECK(result.trace.initial.heap.segments.size() == 1);
  REQUIRE_FALSE(result.notes.empty());
  CHECK(result.notes.front().id == "state_only");
}

TEST_CASE("blocks of a state that wait for events are shown as pending") {
  const Normalised result = normalised(R"(
    segment 2MiB 2MiB small
    block 2MiB 512 100 allocated
    block 2MiB+512 1024 600 pending
    block 2MiB+1536 2095616 0 inactive)");
  CHECK(result.kind == HistoryKind::state_only);
  const Layout& heap = result.trace.initial.heap;
  CHECK(draw_blocks(heap.segments.front()) == "[A 512][P 1K][. 2095616]");
  CHECK(measure_fragmentation(heap).pending == 1_KiB);
}

TEST_CASE("the state of a real run with private pools comes out in its parts") {
  const auto file = recording("traces/cuda_private_pools_state_only.pickle");
  if (!file) return;
  const Recording whole = read_snapshot_file(file->string());
  const Normalised result = normalise(whole, whole.devices.front(), {});
  const Layout& heap = result.trace.initial.heap;
  const Fragmentation parts = measure_fragmentation(heap);
  CHECK(parts.reserved() == Bytes{26'189'234'176});
  CHECK(parts.pending == Bytes{597'377'024});
  CHECK(parts.releasable == Bytes{287'309'824});
  Bytes free_in_pool;
  for (const SegmentPicture& segment : heap.segments) {
    const std::pair<std::int64_t, std::int64_t> first_private{0, 1};
    if (result.names.pool_ids[segment.pool.index()] != first_private) continue;
    for (const BlockPicture& block : segment.blocks) {
      if (block.state == BlockState::free) free_in_pool += block.size;
    }
  }
  CHECK(free_in_pool == Bytes{86'558'720});
}

TEST_CASE("workspaces are noted and in no part of the trace") {
  const Normalised result = normalised(R"(
    workspace_snapshot 100MiB 40MiB
    segment_alloc 100MiB 40MiB
    alloc 100MiB 40MiB
    alloc 2MiB 100
    alloc 2MiB+512 100
    segment 2MiB 2MiB small
    block 2MiB 512 100 allocated
    block 2MiB+512 512 100 allocated
    block 2MiB+1024 2096128 0 inactive
    segment 100MiB 40MiB large
    block 100MiB 40MiB 0 inactive)");
  CHECK(events_of(result.trace) == "malloc 0 100 0; malloc 1 100 0");
  CHECK(result.recorded.final_reserved == 2_MiB);
  REQUIRE(result.workspaces.size() == 1);
  CHECK(result.notes.front().id == "workspaces");
}
