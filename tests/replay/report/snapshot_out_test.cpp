#include "replay/report/snapshot_out.hpp"

#include <fmt/format.h>

#include <sstream>
#include <string>

#include "replay/formats/call_script.hpp"
#include "replay/formats/input_error.hpp"
#include "replay/formats/snapshot_reader.hpp"
#include "replay/verify/reconstruct.hpp"
#include "replay/verify/verify.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/recordings.hpp"

namespace fragcast {
namespace {

Subject subject_of(const std::string& script) {
  std::istringstream lines{script};
  Subject subject;
  subject.kind = SourceKind::call_script;
  subject.history.conditions.model = "npu-caching";
  subject.history.trace = read_call_script(lines, "script");
  return subject;
}

/// The snapshot of a simulation of `subject` under `settings` (none: as recorded).
std::string snapshot_of(const Subject& subject,
                        const std::optional<std::string>& settings,
                        const CompareOptions& options = {}) {
  std::optional<NamedSettings> named;
  if (settings) named = NamedSettings{.name = *settings, .text = *settings};
  std::ostringstream out;
  write_snapshot(subject, PreparedRun{subject, named, options}, out);
  return out.str();
}

Normalised read_back(const std::string& snapshot) {
  ByteSource source = open_source(snapshot, "simulated");
  Recording recording = read_snapshot(source);
  REQUIRE(!recording.devices.empty());
  Normalised normalised = reconstruct(recording, recording.devices.back(), {});
  normalised.trace.stacks = std::move(recording.stacks);
  return normalised;
}

/// A line per request, in order: what was asked for, on which stream, from where.
std::string requests_of(const Trace& trace) {
  std::string lines;
  for (const Event& event : trace.events) {
    if (event.kind != EventKind::allocate && event.kind != EventKind::deallocate) continue;
    const StackId stack = trace.allocations[event.allocation.index()].stack;
    lines += fmt::format(
        "{} {} {} {}\n",
        event.allocation.value(),
        event.size.count(),
        event.stream.value(),
        stack == StackId{} ? "" : describe(trace.stacks, trace.stacks.innermost(stack)));
  }
  return lines;
}

void check_verifies(const Normalised& normalised) {
  const Verification verification = verify(normalised, *find_model("npu-caching"));
  const auto& first = verification.first;
  INFO((first ? fmt::format("{} at {}", first->what, first->entry) : "no divergence"));
  CHECK(verification.refusal.empty());
  CHECK(verification.segment_events.equal == verification.segment_events.of);
  CHECK(verification.unrecorded == 0);
  CHECK(verification.addresses.equal == verification.addresses.of);
  CHECK(verification.failures.equal == verification.failures.of);
  CHECK(verification.reserved_max_error == Bytes{});
  CHECK(normalised.anomalies.total() == 0);
}

TEST_CASE("a simulation's snapshot reads back as the same requests", "[snapshot_out]") {
  const Subject subject = subject_of(
      "malloc a 1000 0 @train.py:1:step;train.py:9:main\n"
      "malloc b 30MiB 1 @train.py:2:step;train.py:9:main\n"
      "free a\n"
      "malloc c 5MiB 0\n"
      "free b\n");
  for (const char* settings : {"", "expandable_segments:True", "max_split_size_mb:20"}) {
    const Normalised back = read_back(snapshot_of(subject, settings));
    CHECK(requests_of(back.trace) == requests_of(subject.trace()));
    CHECK(back.trace.conditions.settings == settings);
    check_verifies(back);
  }
}

TEST_CASE("a simulation that was refused writes nothing", "[snapshot_out]") {
  const Subject subject = subject_of("malloc a 1000 0\n");
  std::ostringstream out;
  const PreparedRun prepared{subject, NamedSettings{.name = "a", .text = "nonsense:1"}, {}};
  CHECK_THROWS_AS(write_snapshot(subject, prepared, out), InputError);
  CHECK(out.str().empty());
}

TEST_CASE("the snapshot is of the trace that the options make", "[snapshot_out]") {
  const Subject subject = subject_of(
      "malloc a 30MiB 0\n"
      "free a\n"
      "empty_cache\n"
      "malloc b 1MiB 0\n");
  CompareOptions options;
  options.changes.empty_cache = DropEmptyCache{};
  CHECK(read_back(snapshot_of(subject, "")).recorded.empty_cache_calls.size() == 1);
  CHECK(read_back(snapshot_of(subject, "", options)).recorded.empty_cache_calls.empty());
}

/// Simulates a recording under several settings and verifies what comes out.
void check_recording(const char* file, const StatedConditions& stated) {
  const auto path = recording(file);
  if (!path) return;
  LoadOptions load;
  load.stated = stated;
  const std::vector<Subject> subjects = load_subjects(path->string(), load);
  REQUIRE(subjects.size() == 1);
  const Subject& subject = subjects.front();
  CompareOptions roomy;
  roomy.device_memory = {64_GiB};
  for (const std::optional<std::string>& settings :
       {std::optional<std::string>{},
        std::optional<std::string>{""},
        std::optional<std::string>{"expandable_segments:True"},
        std::optional<std::string>{"max_split_size_mb:64"},
        std::optional<std::string>{"expandable_segments:True,large_segment_size_mb:64"},
        std::optional<std::string>{"large_segment_size_mb:32,roundup_power2_divisions:4"}}) {
    INFO(file << " under " << settings.value_or("its own settings"));
    check_verifies(read_back(snapshot_of(subject, settings)));
    if (subject.history.recorded.failures > 0) {
      check_verifies(read_back(snapshot_of(subject, settings, roomy)));
    }
  }
}

TEST_CASE("simulations of real recordings verify", "[snapshot_out][recordings]") {
  for (const char* file : {"traces/npu_training.pickle",
                           "traces/npu_leak_expandable.pickle",
                           "traces/npu_leak_empty_cache.pickle"}) {
    check_recording(file, {});
  }
}

StatedConditions stated(std::string settings, Bytes device_memory = 64_GiB) {
  StatedConditions result;
  result.settings = std::move(settings);
  result.device_memory = device_memory;
  return result;
}

TEST_CASE("simulations of several streams, pools and short memory verify",
          "[snapshot_out][recordings]") {
  const auto check = [](const char* name, const StatedConditions& conditions) {
    check_recording(fmt::format("traces/generated/{}.pickle", name).c_str(), conditions);
  };
  check("multi_default_seed601", stated(""));
  check("multi_exp_seed607", stated("expandable_segments:True", 4_GiB));
  check("poolmulti_default_seed907", stated(""));
  check("oom_default_seed712", stated("", 6_GiB));
  check("oom_exp_seed711", stated("expandable_segments:True", 6_GiB));
  StatedConditions half = stated("", 12_GiB);
  half.fraction = 0.5;
  check("oom_frac05_seed722", half);
  check("logu_ms64_seed206", stated("max_split_size_mb:64"));
  check("varlen_ms128_seed718", stated("max_split_size_mb:128", Bytes{10'200'547'328}));
  check("varlen_exp_seed802", stated("expandable_segments:True"));
  check("serve_exp_seed804", stated("expandable_segments:True"));
}

}  // namespace
}  // namespace fragcast
