#include "replay/search/study_placements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "replay/report/placements_csv.hpp"
#include "replay/report/placements_json.hpp"
#include "replay/steps/step_needs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/recordings.hpp"
#include "tests/support/stepped.hpp"
#include "tests/support/subject_of.hpp"

namespace fragcast {
namespace {

PlacementStudy study_of(const Subject& subject, const CompareOptions& options = {}) {
  return study_placements(subject, std::nullopt, options, KeepSeries::no);
}

/// The placement of that name, or of which it is another name; fails the test if there is none.
const TriedPlacement& named(const PlacementStudy& study, const std::string& name) {
  const auto found =
      std::find_if(study.tried.begin(), study.tried.end(), [&](const TriedPlacement& tried) {
        return tried.placement.name == name ||
               std::find(tried.also.begin(), tried.also.end(), name) != tried.also.end();
      });
  INFO(name);
  REQUIRE(found != study.tried.end());
  return *found;
}

/// So many steps of 500, 300 and 200 MiB that live together.
std::string steady_loop(std::size_t steps) {
  std::string script;
  for (std::size_t i = 0; i < steps; ++i) {
    script +=
        "step\nmalloc a 500MiB 0\nmalloc b 300MiB 0\nmalloc c 200MiB 0\nfree a\nfree b\nfree c\n";
  }
  return script;
}

/// What the first step leaves cached is of no use to the second.
std::string soft_fragmentation() {
  std::string script = "step\n";
  for (int i = 0; i < 8; ++i) script += fmt::format("malloc a{} 16MiB 0\n", i);
  for (int i = 0; i < 8; ++i) script += fmt::format("free a{}\n", i);
  script += "step\n";
  for (int i = 0; i < 4; ++i) script += fmt::format("malloc b{} 32MiB 0\n", i);
  for (int i = 0; i < 4; ++i) script += fmt::format("free b{}\n", i);
  return script;
}

TEST_CASE("a call after every step of a steady loop costs a hundred times the device allocations",
          "[placements]") {
  const Subject subject = subject_of(steady_loop(100));
  const PlacementStudy study = study_of(subject);
  CHECK(study.tried.front().run.counts.device_allocs == 3);
  CHECK(named(study, "step-end").run.counts.device_allocs == 300);
  CHECK(named(study, "step-end:every=2").run.counts.device_allocs == 150);
  CHECK(study.recommended == 0);
  CHECK(std::find(study.verdict.begin(),
                  study.verdict.end(),
                  "A call after every step costs 300 device allocations where no call costs 3.") !=
        study.verdict.end());
}

TEST_CASE("calls are taken apart by what they give back and what is asked for again",
          "[placements]") {
  const Subject subject = subject_of(steady_loop(3));
  const PlacementStudy study = study_of(subject);
  const TriedPlacement& tried = named(study, "step-end");
  REQUIRE(tried.calls.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(tried.calls[i].request == 6 * (i + 1));
    CHECK(tried.calls[i].step == i + 1);
    CHECK(tried.calls[i].given_back == 1006_MiB);
  }
  CHECK(tried.calls[0].asked_again == 1006_MiB);
  CHECK(tried.calls[2].asked_again == Bytes{0});
  CHECK(tried.given_back() == 3018_MiB);
  CHECK(tried.calls_in_vain() == 0);
  // 502, 804 and four times 1006 MiB; nothing is counted at the calls themselves.
  CHECK(tried.mean_reserved == round_down(Bytes{(5330_MiB).count() / 6}, Bytes{512}));
}

TEST_CASE("the best single place lies between what is freed and what asks for more",
          "[placements]") {
  const Subject subject = subject_of(soft_fragmentation());
  const PlacementStudy study = study_of(subject);
  CHECK(study.best_place.request == 16);
  CHECK(study.tried.front().run.peak.reserved == 280_MiB);
  const TriedPlacement& recommended = study.tried.at(study.recommended);
  CHECK(recommended.run.peak.reserved == 144_MiB);
  CHECK(recommended.calls.size() == 1);
}

TEST_CASE("the best single place is as good as any place at all", "[placements]") {
  const Subject subject = subject_of(soft_fragmentation());
  const Trace& trace = subject.trace();
  Bytes lowest = Bytes::unlimited();
  for (std::uint64_t request = 1; request <= 24; ++request) {
    TraceChanges changes;
    changes.empty_cache = EmptyCacheAt{{emptying::At{place::AtRequest{request}}}};
    const ChangedTrace changed = change(trace, changes, npu_spec());
    lowest = std::min(lowest, replay(*changed.trace, npu_spec()).peak.reserved);
  }
  const PlacementStudy study = study_of(subject);
  CHECK(named(study, "best single place: request:16").run.peak.reserved == lowest);
}

TEST_CASE("a call site that pins is named where a call gives back nothing", "[placements]") {
  const Subject subject = subject_of(
      "step\nmalloc a 1MiB 0 @train.py:12:forward\nmalloc kept 1MiB 0 @train.py:120:log\nfree a\n"
      "step\nmalloc b 30MiB 0 @train.py:12:forward\nfree b\n");
  CompareOptions options;
  options.changes.empty_cache = EmptyCacheAt{{emptying::At{place::AtStep{1, true}}}};
  const PlacementStudy study = study_of(subject, options);
  const TriedPlacement& asked = named(study, "step:1.end");
  CHECK(asked.calls_in_vain() == 1);
  REQUIRE(asked.pins.size() == 1);
  CHECK(describe(subject.trace().stacks, *asked.pins[0].site) == "train.py:120:log");
  CHECK(study.recommended == 0);
}

TEST_CASE("what the allocator's own flush handles is said", "[placements]") {
  const Subject subject = subject_of(
      "device_memory 100MiB\nstep\nmalloc a 60MiB 0\nfree a\nstep\nmalloc b 80MiB 0\nfree b\n");
  const PlacementStudy study = study_of(subject);
  CHECK(study.tried.front().run.counts.alloc_retries == 1);
  CHECK(std::any_of(study.verdict.begin(), study.verdict.end(), [](const std::string& sentence) {
    return sentence.find("own flush handles the full device: 1 retried request") !=
           std::string::npos;
  }));
}

TEST_CASE("where nothing fits, no placement is recommended", "[placements]") {
  const Subject subject =
      subject_of("device_memory 100MiB\nstep\nmalloc a 60MiB 0\nmalloc b 60MiB 0\nstep\nfree a\n");
  const PlacementStudy study = study_of(subject);
  CHECK(study.recommended == 0);
  CHECK(study.verdict.front().find("No placement of empty_cache lets the run complete") == 0);
}

TEST_CASE("a trace without steps is cut into parts, and marks are places", "[placements]") {
  std::string script;
  for (int i = 0; i < 50; ++i) {
    script += fmt::format("malloc a {}MiB 0\nfree a\n", 10 + 2 * i);
    if (i % 10 == 9) script += "mark epoch\n";
  }
  const Subject subject = subject_of(script);
  const PlacementStudy study = study_of(subject);
  CHECK(named(study, "every:10").calls.size() == 10);
  CHECK(named(study, "marker:epoch").calls.size() == 5);
}

TEST_CASE("the study is the same for any number of threads", "[placements]") {
  const Subject subject = subject_of(soft_fragmentation() + steady_loop(8));
  const auto json_with = [&](unsigned threads) {
    CompareOptions options;
    options.threads = threads;
    const PlacementStudy study = study_of(subject, options);
    std::ostringstream out;
    write_json({&study, 1}, out);
    return out.str();
  };
  CHECK(json_with(1) == json_with(3));
}

TEST_CASE("the study's JSON is what its schema describes", "[placements]") {
  const Subject subject = subject_of(
      "device_memory 1GiB\nstep\nmalloc a 1MiB 0 @t.py:1:f\nmalloc k 1MiB 0 @t.py:2:g\nfree a\n"
      "step\nmalloc b 30MiB 0\nfree b\n");
  const PlacementStudy study = study_of(subject);
  std::ostringstream out;
  write_json({&study, 1}, out);
  std::ifstream file{FRAGCAST_SOURCE_DIR "/replay/report/schemas/fragcast.placements.v1.json"};
  CHECK(violations(nlohmann::json::parse(file),
                   nlohmann::json::parse(out.str()),
                   UnnamedKeys::refused) == std::vector<std::string>{});
}

TEST_CASE("the curve says what is left to others after every event", "[placements]") {
  const Subject subject = subject_of("device_memory 100MiB\nmalloc a 60MiB 0\nfree a\n");
  CompareOptions options;
  options.others = 10_MiB;
  options.changes.empty_cache = EmptyCacheAt{{emptying::At{place::AtEnd{}}}};
  const PlacementStudy study = study_placements(subject, std::nullopt, options, KeepSeries::yes);
  std::ostringstream out;
  write_placements_csv({&study, 1}, out);
  const std::string reserved = std::to_string((62_MiB).count());
  const std::string left = std::to_string((28_MiB).count());
  CHECK(out.str() == "empty_cache_at,event,reserved,free\nnone,0," + reserved + "," + left +
                         "\nnone,1," + reserved + "," + left + "\nend,0," + reserved + "," + left +
                         "\nend,1," + reserved + "," + left + "\nend,1,0," +
                         std::to_string((90_MiB).count()) + "\n");
}

TEST_CASE("steps are ranked by the memory that the program itself needs", "[placements]") {
  const Trace trace = stepped(
      "malloc base 10MiB 0\nstep\nmalloc a 20MiB 0\nfree a\nstep\nmalloc b 50MiB 0\nfree b\n"
      "step\nmalloc c 20MiB 0\nfree c\n");
  CHECK(step_needs(trace) == std::vector<Bytes>{30_MiB, 60_MiB, 30_MiB});
  CHECK(steps_by_need(trace) == std::vector<std::size_t>{2, 1, 3});
}

TEST_CASE("the recorded calls of a real run come out as they were recorded",
          "[placements][recordings]") {
  const auto file = recording("traces/npu_leak_empty_cache.pickle");
  if (!file) return;
  const std::vector<Subject> subjects = load_subjects(file->string(), {});
  const PlacementStudy study = study_of(subjects.at(0));
  const TriedPlacement& recorded = named(study, "as recorded");
  CHECK(recorded.calls.size() == 3);
  CHECK(recorded.run.peak.reserved == Bytes{662700032});
  CHECK(recorded.run.final.reserved == Bytes{509607936});
  CHECK(recorded.run.counts.device_allocs == 79);
  CHECK(recorded.run.counts.device_frees == 54);
  // They come at the steps' ends, and lower no peak: so none is recommended.
  CHECK(named(study, "step-end").placement.name == "as recorded");
  CHECK(study.recommended == 0);
  CHECK(study.tried.front().calls.empty());
  CHECK(study.tried.front().run.counts.device_frees == 0);
}

}  // namespace
}  // namespace fragcast
