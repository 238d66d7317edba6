#include "replay/compare/compare.hpp"

#include <sstream>
#include <string>
#include <vector>

#include "replay/report/comparison_json.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_trace.hpp"
#include "tests/support/recordings.hpp"
#include "tests/support/subject_of.hpp"

namespace fragcast {
namespace {

const std::vector<NamedSettings> eight_settings{
    {.name = "exp", .text = "expandable_segments:True"},
    {.name = "ms20", .text = "max_split_size_mb:20"},
    {.name = "ms64", .text = "max_split_size_mb:64"},
    {.name = "gc", .text = "garbage_collection_threshold:0.8"},
    {.name = "exp again", .text = "expandable_segments:True"},
    {.name = "refused", .text = "expandable_segments:True,max_split_size_mb:64"},
    {.name = "ms128", .text = "max_split_size_mb:128"},
    {.name = "ms256", .text = "max_split_size_mb:256"},
};

std::string json_with(unsigned threads, const Subject& subject, CompareOptions options) {
  options.threads = threads;
  const Comparison comparison = compare(subject, options);
  std::ostringstream out;
  write_json({&comparison, 1}, out);
  return out.str();
}

TEST_CASE("a comparison is the same for any number of threads", "[compare]") {
  Subject subject = subject_of("malloc a 1MiB 0\n");
  const TraceShape shape{.calls = 2000, .streams = 3, .stream_uses = true, .empty_caches = true};
  subject.history.trace = random_trace(shape, choose_by_seed(7));
  CompareOptions options;
  options.settings = eight_settings;
  options.device_memory = {512_MiB, 2_GiB};
  const std::string alone = json_with(1, subject, options);
  for (const unsigned threads : {2U, 3U, 8U, 0U})
    CHECK(json_with(threads, subject, options) == alone);
}

TEST_CASE("settings that mean the same share a row", "[compare]") {
  const Subject subject = subject_of("malloc a 1MiB 0\nfree a\n");
  CompareOptions options;
  options.settings = eight_settings;
  const Comparison comparison = compare(subject, options);
  // As given, which is the default too, and six of the eight.
  REQUIRE(comparison.runs.size() == 8);
  CHECK(comparison.runs[0].also == std::vector<std::string>{"default"});
  CHECK(comparison.runs[1].also == std::vector<std::string>{"exp again"});
  CHECK(comparison.runs[5].refused());
}

TEST_CASE("each size of device memory has its own reference", "[compare]") {
  const Subject subject = subject_of("malloc a 30MiB 0\nmalloc b 30MiB 0\nfree a\nfree b\n");
  CompareOptions options;
  options.settings = {{.name = "exp", .text = "expandable_segments:True"}};
  options.device_memory = {48_MiB, 1_GiB};
  const Comparison comparison = compare(subject, options);
  REQUIRE(comparison.runs.size() == 4);
  CHECK(comparison.runs[0].run.name == "as given @48.0 MiB");
  CHECK(fails_anew(comparison.runs[0].run));
  CHECK_FALSE(comparison.runs[0].difference);
  REQUIRE(comparison.runs[1].difference);
  CHECK(comparison.runs[1].difference->reference == 0);
  CHECK_FALSE(fails_anew(comparison.runs[2].run));
  CHECK_FALSE(comparison.runs[2].difference);
  REQUIRE(comparison.runs[3].difference);
  CHECK(comparison.runs[3].difference->reference == 2);
  // 32 + 32 MiB as segments, 60 MiB and padding in pages of 20 MiB.
  CHECK(comparison.runs[3].difference->peak_reserved == 80_MiB - 64_MiB);
}

TEST_CASE("cold rows of a recording are held against its cold control", "[compare][recordings]") {
  const auto file = recording("traces/npu_leak_empty_cache.pickle");
  if (!file) return;
  const std::vector<Subject> subjects = load_subjects(file->string(), {});
  CompareOptions options;
  options.settings = {{.name = "exp", .text = "expandable_segments:True"},
                      {.name = "ms64", .text = "max_split_size_mb:64"}};
  const Comparison comparison = compare(subjects.at(0), options);
  REQUIRE(comparison.runs.size() == 4);
  CHECK(comparison.runs[1].run.name == "recorded, cold");
  CHECK(comparison.runs[1].difference->reference == 0);
  CHECK(comparison.runs[2].difference->reference == 1);
  CHECK(comparison.runs[3].difference->reference == 1);
  CHECK(json_with(1, subjects.at(0), options) == json_with(3, subjects.at(0), options));
}

}  // namespace
}  // namespace fragcast
