#include "replay/engine/record_run.hpp"

#include <fmt/format.h>

#include <sstream>
#include <string>
#include <variant>

#include "replay/formats/call_script.hpp"
#include "replay/formats/input_error.hpp"
#include "replay/formats/snapshot_reader.hpp"
#include "replay/trace/normalise.hpp"
#include "replay/verify/reconstruct.hpp"
#include "replay/verify/verify.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/properties.hpp"
#include "tests/support/recordings.hpp"
#include "tests/support/situations.hpp"

namespace fragcast {
namespace {

const ModelEntry& npu() { return *find_model("npu-caching"); }

Trace script(const std::string& text) {
  std::istringstream lines{text};
  return read_call_script(lines, "script");
}

RunSpec spec_of(std::string settings, Start start = Start::cold) {
  RunSpec spec;
  spec.model = &npu();
  spec.settings = std::move(settings);
  spec.start = start;
  return spec;
}

Recording record(const Trace& trace, const RunConditions& conditions) {
  const RecordedNames no_names;
  return record_run(trace, conditions, {.device = 0, .names = no_names});
}

/// Under the trace's own conditions.
Recording record(const Trace& trace) { return record(trace, conditions_of(trace, npu())); }

std::string_view name_of(RecordedAction action) {
  constexpr std::array<std::string_view, 9> names{"alloc",
                                                  "free_requested",
                                                  "free_completed",
                                                  "segment_alloc",
                                                  "segment_free",
                                                  "segment_map",
                                                  "segment_unmap",
                                                  "oom",
                                                  "snapshot"};
  return names.at(static_cast<std::size_t>(action));
}

/// A line per entry: action, address, size and, where they are not the default, stream and pool.
std::string history_of(const Recording& recording) {
  std::string lines;
  for (const RecordedEntry& entry : recording.devices.front().entries) {
    lines += fmt::format(
        "{} {:#x} {}", name_of(entry.action), entry.address.value(), entry.size.count());
    if (recording.streams[entry.stream] != 0) {
      lines += fmt::format(" stream {}", recording.streams[entry.stream]);
    }
    if (entry.pool != 0) {
      const auto& [first, second] = recording.pools[entry.pool];
      lines += fmt::format(" pool {},{}", first, second);
    }
    lines += '\n';
  }
  return lines;
}

/// What is wrong with a recording, if it is read as any other: empty if the same requests come out
/// of it and a replay of them does what was recorded.
std::string what_is_wrong(const Recording& recording) {
  const Normalised normalised = reconstruct(recording, recording.devices.front(), {});
  std::string wrong;
  normalised.anomalies.for_each([&](Anomaly anomaly, std::uint64_t count) {
    wrong += fmt::format("{} x {}; ", count, describe(anomaly).id);
  });
  const Verification verification = verify(normalised, npu());
  if (!verification.refusal.empty()) return wrong + verification.refusal;
  if (!verification.perfect()) {
    wrong += fmt::format("{} of {} segment events, {} more, {} of {} addresses, {} of {} failures",
                         verification.segment_events.equal,
                         verification.segment_events.of,
                         verification.unrecorded,
                         verification.addresses.equal,
                         verification.addresses.of,
                         verification.failures.equal,
                         verification.failures.of);
  }
  if (verification.first) {
    wrong += fmt::format("; entry {}: {} ({})",
                         verification.first->entry,
                         verification.first->what,
                         verification.first->why);
  }
  return wrong;
}

TEST_CASE("a run is recorded as torch would have", "[record_run]") {
  const Recording recording =
      record(script("events deferred\n"
                    "malloc a 1000 0\n"
                    "malloc b 3MiB 1\n"
                    "record_stream b 0\n"
                    "free b\n"
                    "malloc c 4MiB 1\n"
                    "complete_events\n"
                    "free a\n"
                    "malloc d 100 1\n"));
  CHECK(history_of(recording) ==
        "segment_alloc 0x100000000000 2097152\n"
        "alloc 0x100000000000 1000\n"
        "segment_alloc 0x100000200000 20971520 stream 1\n"
        "alloc 0x100000200000 3145728 stream 1\n"
        "free_requested 0x100000200000 3145728 stream 1\n"
        "alloc 0x100000500200 4194304 stream 1\n"
        "free_requested 0x100000000000 1000\n"
        "free_completed 0x100000000000 1000\n"
        "free_completed 0x100000200000 3145728 stream 1\n"
        "segment_alloc 0x100001600000 2097152 stream 1\n"
        "alloc 0x100001600000 100 stream 1\n");
  const auto& segments = recording.devices.front().segments;
  REQUIRE(segments.size() == 3);
  CHECK(segments[0].small);
  CHECK_FALSE(segments[1].small);
  CHECK(recording.streams[segments[1].stream] == 1);
  REQUIRE(segments[1].blocks.size() == 3);
  CHECK(segments[1].blocks[1].state == RecordedState::active_allocated);
  CHECK(segments[1].blocks[1].requested == 4_MiB);
  CHECK(recording.settings->variable == "PYTORCH_NPU_ALLOC_CONF");
}

TEST_CASE("a recording tells where in the trace an entry belongs, and who asked", "[record_run]") {
  const Trace trace = script(
      "malloc a 1000 0 @train.py:1:step\n"
      "malloc b 3MiB 0 @train.py:2:step;train.py:9:main\n"
      "free a\n"
      "empty_cache\n");
  const Recording recording = record(trace);
  const RecordedDevice& device = recording.devices.front();
  REQUIRE(device.entries.size() == 7);
  std::vector<std::int64_t> times{device.times_us.begin(), device.times_us.end()};
  CHECK(times == std::vector<std::int64_t>{0, 0, 1, 1, 2, 2, 3});
  const StackId a = trace.allocations[0].stack;
  const StackId b = trace.allocations[1].stack;
  std::vector<StackId> stacks;
  for (const RecordedEntry& entry : device.entries) stacks.push_back(entry.stack);
  CHECK(stacks == std::vector<StackId>{a, a, b, b, a, a, StackId{}});
  REQUIRE(device.segments.size() == 1);
  CHECK(device.segments[0].stack == b);
  CHECK(device.segments[0].blocks[0].stack == b);
  CHECK(device.segments[0].blocks[1].stack == StackId{});
}

TEST_CASE("a request that fails is recorded with what the device had", "[record_run]") {
  const Recording recording =
      record(script("device_memory 30MiB\n"
                    "malloc a 25MiB 0\n"
                    "malloc b 8MiB 0\n"
                    "free b\n"));
  CHECK(history_of(recording) ==
        "segment_alloc 0x100000000000 27262976\n"
        "alloc 0x100000000000 26214400\n"
        "oom 0x400000 8389120\n");
  CHECK(what_is_wrong(recording).empty());
}

TEST_CASE("streams and pools keep the names of the recording", "[record_run]") {
  const Trace trace = script(
      "malloc a 100 1\n"
      "pool_create 1\n"
      "pool_begin 1\n"
      "malloc b 100 0\n"
      "pool_end 1\n"
      "pool_create 2\n"
      "pool_begin 2\n"
      "malloc c 100 0\n");
  RecordedNames names;
  names.handles = {7000, 9000};
  names.pool_ids = {{0, 0}, {4, 0}};
  const Recording recording =
      record_run(trace, conditions_of(trace, npu()), {.device = 2, .names = names});
  CHECK(recording.devices.front().index == 2);
  CHECK(history_of(recording) ==
        "segment_alloc 0x100000000000 2097152 stream 9000\n"
        "alloc 0x100000000000 100 stream 9000\n"
        "segment_alloc 0x100000200000 2097152 stream 7000 pool 4,0\n"
        "alloc 0x100000200000 100 stream 7000 pool 4,0\n"
        "segment_alloc 0x100000400000 2097152 stream 7000 pool 4,1\n"
        "alloc 0x100000400000 100 stream 7000 pool 4,1\n");
}

TEST_CASE("settings are recorded as torch stores them", "[record_run]") {
  const std::string text =
      "max_split_size_mb:64,garbage_collection_threshold:0.8,roundup_power2_divisions:[1:4,>:2]";
  const Trace trace = script("device_memory 1GiB\nfraction 0.5\nsoc ascend950\nmalloc a 1 0\n");
  const Recording recording = record(trace, resolve_conditions(trace, spec_of(text)));
  const RecordedSettings& settings = *recording.settings;
  CHECK(settings.text == text);
  CHECK(settings.max_split_size == 64_MiB);
  CHECK(settings.garbage_collection_threshold == 0.8);
  CHECK(settings.expandable_segments == false);
  CHECK(settings.roundup_power2_divisions.at("1") == 4);
  CHECK(settings.roundup_power2_divisions.at("32768") == 2);
  CHECK(settings.roundup_power2_divisions.size() == 16);
  CHECK(settings.device_memory == 1_GiB);
  CHECK(settings.fraction == 0.5);
  CHECK(settings.soc == "ascend950");
  CHECK_FALSE(record(script("malloc a 1 0\n")).settings->max_split_size.has_value());
}

TEST_CASE("conditions that the model refuses are an input error", "[record_run]") {
  const Trace trace = script("malloc a 1 0\n");
  CHECK_THROWS_AS(record(trace, resolve_conditions(trace, spec_of("nonsense:1"))), InputError);
}

TEST_CASE("a request that failed once and is served now fits what its rounded size tells",
          "[record_run]") {
  Recording failed =
      record(script("device_memory 30MiB\n"
                    "malloc a 25MiB 0\n"
                    "malloc b 8MiB 0\n"
                    "malloc b2 8MiB 0\n"
                    "malloc c 100 0\n"));
  REQUIRE(failed.devices.front().entries.size() == 6);
  const Normalised normalised = normalise(failed, failed.devices.front(), {});
  RunSpec spec = spec_of("");
  spec.device_memory = 1_GiB;
  const Recording served = record(normalised.trace, resolve_conditions(normalised.trace, spec));
  // 8 MiB + 512 is what 8 MiB is rounded to, and what 8 MiB + 480 is rounded to. The program that
  // asked twice got one block.
  CHECK(history_of(served) ==
        "segment_alloc 0x100000000000 27262976\n"
        "alloc 0x100000000000 26214400\n"
        "segment_alloc 0x100001a00000 20971520\n"
        "alloc 0x100001a00000 8389088\n"
        "segment_alloc 0x100002e00000 2097152\n"
        "alloc 0x100002e00000 100\n");
  CHECK(what_is_wrong(served).empty());
}

/// How pools are set up (never split, serving others that run out) is in no entry of a history and
/// in no field of a segment.
bool sets_up_pool(const Control& call) {
  return std::holds_alternative<control::PoolNoSplit>(call) ||
         std::holds_alternative<control::PoolUseOnOom>(call);
}

Trace without_pool_setup(Trace trace) {
  ChunkedVector<Event> events;
  for (const Event& event : trace.events) {
    const bool left_out =
        event.kind == EventKind::control && sets_up_pool(trace.controls[event.detail]);
    if (!left_out) events.push_back(event);
  }
  trace.events = std::move(events);
  return trace;
}

TEST_CASE("the recording of a simulation verifies", "[record_run][property]") {
  for (Situation situation : situations_of(npu())) {
    TraceShape& shape = situation.trials.shape;
    // What no recording tells: that frees were held back by a capture, that settings changed.
    if (!shape.settings_changes.empty()) continue;
    shape.captures = false;
    shape.fraction_changes = false;
    situation.trials.seeds = 100;
    DYNAMIC_SECTION(situation.name) {
      check_property(situation.trials, [](const Trace& trace) {
        return what_is_wrong(record(without_pool_setup(trace)));
      });
    }
  }
}

}  // namespace
}  // namespace fragcast
