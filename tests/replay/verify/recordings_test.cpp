// What the recordings of real devices and of the real allocator say about the whole way from a file
// to a verified replay.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "replay/engine/replay.hpp"
#include "replay/formats/snapshot_reader.hpp"
#include "replay/trace/place.hpp"
#include "replay/transforms/empty_cache.hpp"
#include "replay/verify/reconstruct.hpp"
#include "replay/verify/verify.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/record.hpp"
#include "tests/support/recordings.hpp"

using namespace fragcast;

namespace {

const ModelEntry& model() { return *find_model("npu-caching"); }

/// The device of a file that has a history.
const RecordedDevice& busiest(const Recording& recording) {
  return *std::max_element(recording.devices.begin(),
                           recording.devices.end(),
                           [](const RecordedDevice& a, const RecordedDevice& b) {
                             return a.entries.size() < b.entries.size();
                           });
}

std::optional<Recording> read(const std::string& name) {
  const auto file = recording("traces/" + name + ".pickle");
  if (!file) return std::nullopt;
  return read_snapshot_file(file->string());
}

Normalised normalised(const Recording& recording, const StatedConditions& stated = {}) {
  return normalise(recording, busiest(recording), stated);
}

struct RealRecording {
  std::string name;
  std::size_t allocations = 0;
  std::size_t segment_events = 0;
};

const std::vector<RealRecording> real_recordings{
    {.name = "npu_training", .allocations = 3216, .segment_events = 52},
    {.name = "npu_leak_expandable", .allocations = 2899, .segment_events = 45},
    {.name = "npu_leak_empty_cache", .allocations = 2899, .segment_events = 133},
};

struct GeneratedRecording {
  std::string name;
  StatedConditions stated;
  std::size_t failures = 0;
};

StatedConditions under(std::string settings, Bytes memory, std::optional<double> fraction = {}) {
  return {.model = {},
          .settings = std::move(settings),
          .soc = {},
          .device_memory = memory,
          .fraction = fraction};
}

std::vector<GeneratedRecording> generated_recordings() {
  const std::string expandable = "expandable_segments:True";
  return {
      {.name = "multi_default_seed601", .stated = under("", 64_GiB), .failures = 0},
      {.name = "multi_exp_seed607", .stated = under(expandable, 4_GiB), .failures = 0},
      {.name = "poolmulti_default_seed907", .stated = under("", 64_GiB), .failures = 0},
      {.name = "oom_default_seed712", .stated = under("", 6_GiB), .failures = 68},
      {.name = "oom_exp_seed711", .stated = under(expandable, 6_GiB), .failures = 27},
      {.name = "oom_frac05_seed722", .stated = under("", 12_GiB, 0.5), .failures = 12},
      {.name = "logu_ms64_seed206", .stated = under("max_split_size_mb:64", 64_GiB), .failures = 0},
      {.name = "varlen_ms128_seed718",
       .stated = under("max_split_size_mb:128", Bytes{10'200'547'328}),
       .failures = 299},
      {.name = "varlen_exp_seed802", .stated = under(expandable, 64_GiB), .failures = 0},
      {.name = "serve_exp_seed804", .stated = under(expandable, 64_GiB), .failures = 0},
  };
}

/// Verifies what is left of a recording without its first `cut` entries.
Verification verify_without_head(const Recording& whole,
                                 std::size_t cut,
                                 const StatedConditions& stated) {
  const Recording rest = without_head(whole, busiest(whole), cut);
  return verify(reconstruct(rest, rest.devices.front(), stated), model());
}

Run replayed(const Trace& trace, const std::string& settings, Start start) {
  RunSpec spec;
  spec.name = "test";
  spec.model = &model();
  spec.settings = settings;
  spec.start = start;
  return replay(trace, spec);
}

}  // namespace

TEST_CASE("recordings of real NPUs are reproduced to the last address") {
  for (const RealRecording& expected : real_recordings) {
    const auto recording = read(expected.name);
    if (!recording) return;
    INFO(expected.name);
    const Normalised history = normalised(*recording);
    CHECK(history.anomalies.total() == 0);
    CHECK(history.conditions.model == "npu-caching");
    const Verification result = verify(history, model());
    CHECK(result.perfect());
    CHECK(result.addresses.equal == expected.allocations);
    CHECK(result.segment_events.equal == expected.segment_events);
    CHECK(result.reserved_max_error == 0_B);
  }
}

TEST_CASE("recordings of the real allocator with streams, pools and failures are reproduced") {
  for (const GeneratedRecording& expected : generated_recordings()) {
    const auto recording = read("generated/" + expected.name);
    if (!recording) return;
    INFO(expected.name);
    const Normalised history = normalised(*recording, expected.stated);
    CHECK(history.anomalies.total() == 0);
    const Verification result = verify(history, model());
    CHECK(result.perfect());
    CHECK(result.failures.equal == expected.failures);
  }
}

TEST_CASE(
    "recordings of the real allocator are reproduced without the first half of their entries") {
  const auto is_growth_or_release = [](RecordedAction action) {
    return action == RecordedAction::segment_alloc || action == RecordedAction::segment_free ||
           action == RecordedAction::segment_map || action == RecordedAction::segment_unmap;
  };
  for (const GeneratedRecording& expected : generated_recordings()) {
    const auto recording = read("generated/" + expected.name);
    if (!recording) return;
    INFO(expected.name);
    const auto& entries = busiest(*recording).entries;
    const std::size_t half = entries.size() / 2;
    std::size_t allocations = 0;
    std::size_t failures = 0;
    std::size_t segment_events = 0;
    for (std::size_t i = half; i < entries.size(); ++i) {
      if (entries[i].action == RecordedAction::alloc) ++allocations;
      if (entries[i].action == RecordedAction::oom) ++failures;
      if (is_growth_or_release(entries[i].action)) ++segment_events;
    }
    const Verification result = verify_without_head(*recording, half, expected.stated);
    CHECK_FALSE(result.first);
    CHECK(result.perfect());
    CHECK(result.addresses.equal == allocations);
    CHECK(result.failures.equal == failures);
    CHECK(result.segment_events.equal == segment_events);
  }
}

TEST_CASE("recordings are reproduced wherever their heads are cut off") {
  std::vector<GeneratedRecording> all = generated_recordings();
  for (GeneratedRecording& generated : all) generated.name = "generated/" + generated.name;
  for (const RealRecording& real : real_recordings) {
    all.push_back({.name = real.name, .stated = {}, .failures = 0});
  }
  constexpr std::size_t parts = 8;
  for (const GeneratedRecording& expected : all) {
    const auto recording = read(expected.name);
    if (!recording) return;
    const std::size_t entries = busiest(*recording).entries.size();
    for (std::size_t part = 1; part < parts; ++part) {
      INFO(expected.name << " without the first " << part << " of " << parts << " parts");
      CHECK(verify_without_head(*recording, part * entries / parts, expected.stated).perfect());
    }
  }
}

TEST_CASE("three empty_cache calls show in a history, where the program made them") {
  const auto recording = read("npu_leak_empty_cache");
  if (!recording) return;
  const Normalised history = normalised(*recording);
  std::vector<std::size_t> requests;
  for (const EmptyCacheCall& call : history.recorded.empty_cache_calls) {
    requests.push_back(call.request);
  }
  CHECK(requests == std::vector<std::size_t>{2039, 3756, 5473});
  CHECK(history.recorded.peak_reserved == Bytes{662'700'032});
  CHECK(history.recorded.final_reserved == Bytes{509'607'936});
  CHECK(history.recorded.device_allocs == 79);
  CHECK(history.recorded.device_frees == 54);
}

TEST_CASE("a recording without expandable segments predicts the one with them, and back") {
  const auto expandable = read("npu_leak_expandable");
  const auto plain = read("npu_leak_empty_cache");
  if (!expandable || !plain) return;
  const std::string on = "expandable_segments:True";

  const Normalised from_expandable = normalised(*expandable);
  std::vector<std::size_t> calls;
  for (const Place& place :
       parse_places("request:2039,request:3756,request:5473", InputPosition{})) {
    calls.push_back(*resolve(from_expandable.trace, place, InputPosition{}));
  }
  const Run as_plain =
      replayed(replace_empty_cache(from_expandable.trace, calls).trace, "", Start::cold);
  CHECK(as_plain.peak.reserved == Bytes{662'700'032});
  CHECK(as_plain.final.reserved == Bytes{509'607'936});
  CHECK(as_plain.counts.device_allocs == 79);
  CHECK(as_plain.counts.device_frees == 54);

  const Normalised from_plain = normalised(*plain);
  const Run without_calls =
      replayed(replace_empty_cache(from_plain.trace, {}).trace, on, Start::cold);
  CHECK(without_calls.peak.reserved == Bytes{643'825'664});
  CHECK(without_calls.counts.maps == 45);

  const Run with_calls = replayed(from_plain.trace, on, Start::cold);
  CHECK(with_calls.final.reserved == Bytes{490'733'568});
  CHECK(with_calls.counts.maps == 75);
  CHECK(with_calls.counts.unmaps == 10);
}
