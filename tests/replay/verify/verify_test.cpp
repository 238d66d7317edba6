#include "replay/verify/verify.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "replay/verify/reconstruct.hpp"
#include "replay/verify/refine_start.hpp"
#include "sim/observe/draw.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/properties.hpp"
#include "tests/support/random_trace.hpp"
#include "tests/support/record.hpp"
#include "tests/support/recording_text.hpp"

using namespace fragcast;

namespace {

const ModelEntry& model() { return *find_model("npu-caching"); }

Normalised normalised(const Recording& recording, const StatedConditions& stated = {}) {
  return normalise(recording, recording.devices.front(), stated);
}

Verification verified(const Recording& recording, const StatedConditions& stated = {}) {
  return verify(normalised(recording, stated), model());
}

/// What keeps a recording from being reproduced; empty if nothing does.
std::string trouble(const Recording& recording, const StatedConditions& stated) {
  const Normalised history = reconstruct(recording, recording.devices.front(), stated);
  const Verification result = verify(history, model());
  if (!result.refusal.empty()) return result.refusal;
  if (result.perfect()) return {};
  if (!result.first) return "not reproduced";
  return fmt::format("entry {}: {}", result.first->entry, result.first->what);
}

}  // namespace

TEST_CASE("a recording of the model's own run is reproduced") {
  const Verification result = verified(record_script(R"(
    device_memory 1GiB
    malloc a 100MiB 0
    malloc b 5MiB 1
    free a
    malloc c 30MiB 0
    malloc d 1000 0
    free c
    empty_cache
    malloc e 990MiB 0
    malloc f 800MiB 0)"),
                                       {.device_memory = 1_GiB});
  CHECK(result.perfect());
  CHECK(result.percent() == 100.0);
  CHECK(result.addresses.of == 5);
  CHECK(result.failures.of == 1);
  CHECK(result.segment_events.of > 4);
  CHECK_FALSE(result.first.has_value());
}

TEST_CASE("the first divergence says what was recorded, what the model did, and why") {
  const Verification result = verified(recording_from_text(R"(
    segment_alloc 2MiB 2MiB
    alloc 2MiB 100
    alloc 2MiB+1024 100
    segment_alloc 6MiB 20MiB
    alloc 6MiB 3000000
    segment 2MiB 2MiB small
    block 2MiB 512 100 allocated
    block 2MiB+512 512 0 inactive
    block 2MiB+1024 512 100 allocated
    block 2MiB+1536 2095616 0 inactive
    segment 6MiB 20MiB large
    block 6MiB 3000320 3000000 allocated
    block 6MiB+3000320 17971200 0 inactive)"));
  CHECK_FALSE(result.perfect());
  CHECK(result.addresses.equal == 2);
  CHECK(result.addresses.of == 3);
  CHECK(result.percent() == Approx(100.0 * 2 / 3));
  REQUIRE(result.first);
  CHECK(result.first->event == 1);
  CHECK(result.first->entry == 2);
  CHECK(result.first->request == 2);
  CHECK(result.first->what ==
        "allocation of 100 bytes on stream 0: the recorded address is 0x200400, the model's "
        "0x200200");
  CHECK(result.first->why.find("--device-memory") != std::string::npos);
}

TEST_CASE("segment events of the model that were not recorded spoil the score") {
  const Verification result = verified(recording_from_text(R"(
    alloc 2MiB 100
    free_requested 2MiB 100
    free_completed 2MiB 100
    snapshot)"));
  CHECK(result.unrecorded == 1);
  CHECK(result.segment_events.of == 0);
  CHECK(result.percent() == 0.0);
  CHECK(result.reserved_max_error == 2_MiB);
}

TEST_CASE("nothing to reproduce counts as reproduced") {
  CHECK(Score{}.percent() == 100.0);
  CHECK(Score{.equal = 1, .of = 4}.percent() == 25.0);
}

TEST_CASE("private pools of one flush may be released in any order") {
  const Verification result = verified(recording_from_text(R"(
    segment_alloc 2MiB 2MiB pool=1
    alloc 2MiB 100 pool=1
    segment_alloc 4MiB 2MiB pool=2
    alloc 4MiB 100 pool=2
    segment_alloc 6MiB 2MiB pool=0
    alloc 6MiB 100 pool=0
    free_requested 2MiB 100 pool=1
    free_completed 2MiB 100 pool=1
    free_requested 4MiB 100 pool=2
    free_completed 4MiB 100 pool=2
    free_requested 6MiB 100 pool=0
    free_completed 6MiB 100 pool=0
    segment_free 6MiB 2MiB pool=0
    segment_free 4MiB 2MiB pool=2
    segment_free 2MiB 2MiB pool=1
    snapshot)"));
  CHECK(result.perfect());
}

TEST_CASE("a hidden rest of the start is found by the address behind it") {
  // b's segment of 20 MiB is reused for c, which leaves less than 1 MiB: c keeps it. d behind it is
  // freed before the cut, e then shows where c ends.
  const Recording whole = record_script(R"(
    malloc b 9MiB 0
    malloc d 8MiB 0
    free b
    malloc c 8800KiB 0
    free d
    malloc e 2MiB 0
    free c
    malloc f 9MiB 0)");
  // Entries: segment, b, d, 2 x free b, c, 2 x free d.
  const Recording cut = without_head(whole, whole.devices.front(), 8);
  const Normalised history = normalised(cut);
  CHECK(history.recorded.uncertain_sizes.empty());
  CHECK(draw_blocks(history.trace.initial.heap.segments.front()) == "[A 9437696][. 11533824]");
  CHECK(verify(history, model()).perfect());
}

TEST_CASE("a hidden rest of the start is found by a request that it leaves no room for") {
  // As before; but the free block behind c is first wanted by e, which would fit if c's rest were
  // free, and which the recording placed in a new segment.
  const Recording whole = record_script(R"(
    malloc b 9MiB 0
    malloc d 8MiB 0
    free b
    malloc c 8300KiB 0
    free d
    malloc e 11600KiB 0
    free c
    malloc f 9MiB 0)");
  const Recording cut = without_head(whole, whole.devices.front(), 8);
  Normalised history = normalised(cut);
  CHECK(history.recorded.uncertain_sizes == std::vector{AllocationId{0u}});
  CHECK_FALSE(verify(history, model()).perfect());
  CHECK(refine_start(history, model()) == 1);
  CHECK(verify(history, model()).perfect());
  CHECK(history.notes.back().id == "start_refined");
}

TEST_CASE("nothing is refined where sizes are certain") {
  Normalised history = normalised(record_script("malloc a 5MiB 0\nfree a\nmalloc b 2MiB 0\n"));
  CHECK(refine_start(history, model()) == 0);
  CHECK(history.notes.empty());
}

TEST_CASE("ranges that failing requests reserve do not take the recorded addresses of others") {
  const std::string script = R"(
    conf expandable_segments:True
    device_memory 100MiB
    malloc a 40MiB 0
    malloc b 70MiB 1
    malloc c 20MiB 2
    free a
    malloc d 30MiB 1
    malloc e 100 0)";
  CHECK(trouble(record_script(script),
                {.settings = "expandable_segments:True", .device_memory = 100_MiB}) == "");
}

TEST_CASE("recordings of random runs are reproduced, whole and with their heads cut off") {
  struct Case {
    std::string settings;
    std::optional<Bytes> memory;
    std::uint16_t streams = 1;
  };
  for (const Case& wanted : {Case{"", {}, 1},
                             Case{"", 600_MiB, 3},
                             Case{"expandable_segments:True", {}, 2},
                             Case{"expandable_segments:True", 600_MiB, 3},
                             Case{"max_split_size_mb:24", 700_MiB, 1}}) {
    Trials trials;
    trials.shape.streams = wanted.streams;
    trials.shape.calls = 400;
    trials.shape.stream_uses = wanted.streams > 1;
    trials.shape.empty_caches = !wanted.memory.has_value();
    trials.conditions.settings = wanted.settings;
    trials.conditions.device_memory = wanted.memory.value_or(64_GiB);
    trials.conditions.instant_events = false;
    const StatedConditions stated{.settings = wanted.settings,
                                  .device_memory = trials.conditions.device_memory};
    check_property(trials, [&](const Trace& trace) {
      const Recording whole = record(trace, conditions_of(trace, model()));
      const std::size_t entries = whole.devices.front().entries.size();
      for (const std::size_t cut : {std::size_t{0}, entries / 3, entries / 2}) {
        const std::string wrong = trouble(without_head(whole, whole.devices.front(), cut), stated);
        if (!wrong.empty()) return fmt::format("cut at {}: {}", cut, wrong);
      }
      return std::string{};
    });
  }
}
