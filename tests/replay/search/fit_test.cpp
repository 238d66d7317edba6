#include "replay/search/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "replay/engine/replay.hpp"
#include "replay/report/fit_json.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/random_trace.hpp"
#include "tests/support/recordings.hpp"
#include "tests/support/stepped.hpp"
#include "tests/support/subject_of.hpp"

namespace fragcast {
namespace {

constexpr std::size_t points = 48;

/// 100, 110, … 190 MiB, each freed before the next.
std::string growing_sizes() {
  std::string script;
  for (int size = 100; size < 200; size += 10) {
    script += fmt::format("malloc a {}MiB 0\nfree a\n", size);
  }
  return script;
}

Subject random_subject(std::uint64_t seed, Bytes largest_request) {
  Subject subject = subject_of("malloc a 1MiB 0\n");
  const TraceShape shape{.calls = 200, .streams = 2, .largest_request = largest_request};
  subject.history.trace = random_trace(shape, choose_by_seed(seed));
  return subject;
}

bool completes_on(const Trace& trace, Bytes size, const std::string& settings = "") {
  RunSpec spec = npu_spec(settings);
  spec.device_memory = size;
  return replay(trace, spec).outcome == RunOutcome::completed;
}

TEST_CASE("sizes that grow fit where the largest does, with retries", "[fit]") {
  const Subject subject = subject_of(growing_sizes());
  const FitStudy study = study_fit(subject, {}, points);
  const FitRow& row = study.rows.at(0);
  // 190 MiB and padding are a segment of 192 MiB; without a flush all ten, 102 to 192 MiB, pile up.
  CHECK(row.least == 192_MiB);
  CHECK(row.least_without_retries == 1470_MiB);
  CHECK(row.peak_reserved == 1470_MiB);
  CHECK(row.bound == 190_MiB);
  CHECK(row.at(row.least)->retries == 9);
  CHECK(row.at(row.least_without_retries)->retries == 0);
  CHECK_FALSE(row.exhaustive);
  CHECK(row.holes.empty());
}

TEST_CASE("what others hold comes on top", "[fit]") {
  const Subject subject = subject_of(growing_sizes());
  CompareOptions options;
  options.others = 20000_MiB;
  const FitRow row = study_fit(subject, options, points).rows.at(0);
  CHECK(row.least == 20192_MiB);
  CHECK(row.least_without_retries == 21470_MiB);
  CHECK(row.bound == 20190_MiB);
}

TEST_CASE("a fraction asks for a larger device", "[fit]") {
  const Subject subject = subject_of("malloc a 98MiB 0\n");
  CompareOptions options;
  options.fraction = 0.5;
  // A segment of 100 MiB is half of 200.
  CHECK(study_fit(subject, options, points).rows.at(0).least == 200_MiB);
}

TEST_CASE("a request that failed when it was recorded is to be served, too", "[fit]") {
  Subject subject = subject_of("malloc a 40MiB 0\nmalloc b 60MiB 0\n");
  subject.history.trace.events.back().failed_in_recording = true;
  // As it failed, its size is already rounded: 42 + 60 MiB.
  CHECK(study_fit(subject, {}, points).rows.at(0).least == 102_MiB);
}

TEST_CASE("what the changes leave out is not held against the device", "[fit]") {
  const Subject subject =
      subject_of("malloc leak 500MiB 0 @leak.py:1:f\nmalloc a 100MiB 0 @train.py:1:f\nfree a\n");
  CompareOptions options;
  options.changes.without = {parse_without("leak.py:1", {})};
  const FitRow row = study_fit(subject, options, points).rows.at(0);
  CHECK(row.bound == 100_MiB);
  CHECK(row.least == 102_MiB);
}

TEST_CASE("no size below the bound completes, and all sizes around the least one were tried",
          "[fit]") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Subject subject = random_subject(seed, 400_MiB);
    const FitRow row = study_fit(subject, {}, points).rows.at(0);
    INFO("seed " << seed);
    REQUIRE(row.least);
    CHECK(*row.least >= row.bound);
    CHECK(row.least <= row.least_without_retries);
    for (int i = 1; i <= 16; ++i) {
      const Bytes size = *row.least - i * fit_granule;
      if (size < row.bound) break;
      CHECK_FALSE(completes_on(subject.trace(), size));
      CHECK(row.at(size) != nullptr);
    }
    CHECK_FALSE(completes_on(subject.trace(), row.bound - fit_granule));
    CHECK(completes_on(subject.trace(), *row.least));
  }
}

TEST_CASE("a small bracket is searched from end to end", "[fit]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Subject subject = random_subject(seed, 16_MiB);
    const FitRow row = study_fit(subject, {}, points).rows.at(0);
    INFO("seed " << seed);
    REQUIRE(row.exhaustive);
    Bytes least = row.bound;
    while (!completes_on(subject.trace(), least)) least += fit_granule;
    CHECK(row.least == least);
    for (const FitPoint& point : row.tried) {
      CHECK(point.completes == completes_on(subject.trace(), point.device_memory));
    }
  }
}

TEST_CASE("where a larger device has other address ranges, more memory may not be enough",
          "[fit]") {
  const Subject subject =
      subject_of("malloc a 40MiB 0\nmalloc b 2MiB 0\nfree a\nmalloc c 6MiB 0\nmalloc d 40MiB 0\n");
  CompareOptions options;
  options.settings = {{.name = "exp", .text = "expandable_segments:True"}};
  const FitStudy study = study_fit(subject, options, points);
  const FitRow& row = study.rows.at(1);
  CHECK(row.least == 60_MiB);
  REQUIRE(row.holes.size() == 1);
  CHECK(row.holes[0].first == 72_MiB);
  CHECK(row.holes[0].last == 78_MiB);
  CHECK_FALSE(completes_on(subject.trace(), 72_MiB, row.settings));
  CHECK(std::any_of(study.verdict.begin(), study.verdict.end(), [](const std::string& sentence) {
    return sentence ==
           "More is not always better under exp: it completes at 60 MiB, and fails again at 72 MiB "
           "to 78 MiB.";
  }));
}

TEST_CASE("a refused setting is a row that says why", "[fit]") {
  const Subject subject = subject_of("malloc a 40MiB 0\n");
  CompareOptions options;
  options.settings = {{.name = "no", .text = "max_split_size_mb:1"}};
  const FitStudy study = study_fit(subject, options, points);
  REQUIRE(study.rows.size() == 2);
  CHECK(study.rows[1].refusal.find("max_split_size_mb too small") != std::string::npos);
  CHECK_FALSE(study.rows[1].least);
}

TEST_CASE("what fits is the same for any number of threads, and as its schema describes", "[fit]") {
  const Subject subject = random_subject(3, 400_MiB);
  const auto json_with = [&](unsigned threads) {
    CompareOptions options;
    options.threads = threads;
    options.settings = {{.name = "exp", .text = "expandable_segments:True"}};
    const FitStudy study = study_fit(subject, options, points);
    std::ostringstream out;
    write_json({&study, 1}, out);
    return out.str();
  };
  const std::string json = json_with(1);
  CHECK(json_with(3) == json);
  std::ifstream file{FRAGCAST_SOURCE_DIR "/replay/report/schemas/fragcast.fit.v1.json"};
  CHECK(violations(nlohmann::json::parse(file),
                   nlohmann::json::parse(json),
                   UnnamedKeys::refused) == std::vector<std::string>{});
}

TEST_CASE("the curve has a row for each size tried", "[fit]") {
  const Subject subject = subject_of("malloc a 40MiB 0\n");
  const FitStudy study = study_fit(subject, {}, points);
  std::ostringstream out;
  write_fit_csv({&study, 1}, out);
  const std::string text = out.str();
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);
  CHECK(text.find("\nas given,41943040,no,1,1,0,0,0,") != std::string::npos);
  CHECK(text.find("\nas given,44040192,yes,0,0,1,0,44040192,") != std::string::npos);
}

TEST_CASE("what a real run needs is what its model says of that size and the one below",
          "[fit][recordings]") {
  const auto file = recording("traces/npu_leak_expandable.pickle");
  if (!file) return;
  const std::vector<Subject> subjects = load_subjects(file->string(), {});
  CompareOptions options;
  options.settings = {{.name = "exp", .text = "expandable_segments:True"}};
  const FitStudy study = study_fit(subjects.at(0), options, points);
  REQUIRE(study.rows.size() == 2);
  const FitRow& recorded = study.rows[0];
  CHECK(recorded.peak_reserved == Bytes{643825664});
  CHECK(recorded.least_without_retries == Bytes{643825664});
  REQUIRE(recorded.least);
  CompareOptions sizes;
  sizes.device_memory = {*recorded.least - fit_granule, *recorded.least};
  const Comparison comparison = compare(subjects.at(0), sizes);
  CHECK(fails_anew(comparison.runs.front().run));
  CHECK_FALSE(fails_anew(comparison.runs[comparison.runs.size() / 2].run));
}

}  // namespace
}  // namespace fragcast
