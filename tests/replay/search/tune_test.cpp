#include "replay/search/tune.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "replay/report/tune_json.hpp"
#include "replay/search/tune_verdict.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/parse_layout.hpp"
#include "tests/support/random_trace.hpp"
#include "tests/support/recordings.hpp"
#include "tests/support/stepped.hpp"
#include "tests/support/trace_builder.hpp"

namespace fragcast {
namespace {

Tuning tune_one(const Subject& subject, const TuneOptions& options = {}) {
  return tune({&subject, 1}, options);
}

/// All that a search says but how it came to it.
std::string answer(const Tuning& tuning) {
  std::ostringstream out;
  Tuning silent = tuning;
  silent.abandoned = 0;
  write_json(silent, out);
  return out.str();
}

std::string best(const Tuning& tuning) {
  return tuning.recommended ? describe_choice(tuning, *tuning.recommended) : "nothing";
}

bool says(const Tuning& tuning, std::string_view part) {
  for (const std::string& sentence : tuning.verdict) {
    if (sentence.find(part) != std::string::npos) return true;
  }
  return false;
}

Subject random_subject(std::uint64_t seed) {
  Trace trace = random_trace({.calls = 300,
                              .streams = static_cast<std::uint16_t>(1 + seed % 3),
                              .largest_request = 90_MiB,
                              .stream_uses = seed % 2 == 0,
                              .empty_caches = seed % 3 == 0},
                             choose_by_seed(seed));
  if (seed % 2 == 1) trace.conditions.device_memory = 900_MiB;
  if (seed % 4 == 3) trace.conditions.fraction = 0.8;
  return subject_of(std::move(trace), fmt::format("seed {}", seed));
}

/// A large tensor that comes and goes, and a small one that is made meanwhile.
constexpr std::string_view intruder =
    "malloc large 419430368 0\n"
    "free large\n"
    "malloc small 31457248 0\n"
    "malloc large 419430368 0\n"
    "free large\n";
constexpr std::string_view growing =
    "malloc a 100MiB 0\nfree a\n"
    "malloc a 130MiB 0\nfree a\n"
    "malloc a 160MiB 0\nfree a\n"
    "malloc a 190MiB 0\nfree a\n";
/// What one stream has cached, the other cannot use.
constexpr std::string_view side_stream =
    "step\nmalloc a 419430368 1\nfree a\n"
    "step\nmalloc b 429916128 0\nfree b\n";

}  // namespace

TEST_CASE("giving up what is beaten changes no answer", "[tune]") {
  std::int64_t abandoned = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    INFO("seed " << seed);
    const Subject subject = random_subject(seed);
    TuneOptions options{.objective = static_cast<Objective>(seed % 3),
                        .keys = seed % 2 == 0 ? SettingKeys::all : SettingKeys::usual,
                        .empty_cache = seed % 3 == 0 ? EmptyCacheSearch::several_places
                                                     : EmptyCacheSearch::as_given,
                        .points = 120};
    if (seed > 5) options.run.model = find_model("cuda-caching");
    const Tuning abandoning = tune_one(subject, options);
    options.beaten = Beaten::finished;
    const Tuning finishing = tune_one(subject, options);
    CHECK(answer(abandoning) == answer(finishing));
    CHECK(finishing.abandoned == 0);
    abandoned += abandoning.abandoned;
  }
  CHECK(abandoned > 50);
}

TEST_CASE("nothing on the front is beaten by anything that was tried", "[tune]") {
  const Subject subject = random_subject(5);
  const Tuning tuning = tune_one(subject);
  for (const TunedPoint& point : tuning.front) {
    for (const TunedPoint& other : tuning.front) {
      CHECK_FALSE(beats(other.standing, point.standing));
    }
    for (const AdvisedSetting& advised : tuning.advised) {
      if (advised.point) CHECK_FALSE(beats(advised.point->standing, point.standing));
    }
    CHECK_FALSE(beats(tuning.now.standing, point.standing));
  }
}

TEST_CASE("a search comes to the same with any number of threads", "[tune]") {
  const std::vector<Subject> subjects{random_subject(3), random_subject(7)};
  TuneOptions options{.points = 150};
  options.run.threads = 1;
  const Tuning one = tune(subjects, options);
  options.run.threads = 3;
  const Tuning three = tune(subjects, options);
  CHECK(answer(one) == answer(three));
  CHECK(one.abandoned == three.abandoned);
}

TEST_CASE("growing sizes want ranges, fixed ones with an intruder a split limit", "[tune]") {
  const Subject grows = subject_of(stepped(growing));
  CHECK(best(tune_one(grows)) == "expandable_segments:True,large_segment_size_mb:192");
  const Subject fixed = subject_of(stepped(intruder));
  const Tuning tuning = tune_one(fixed);
  CHECK(best(tuning) == "max_split_size_mb:30");
  CHECK(tuning.now.runs[0].peak_reserved == 800_MiB);
  CHECK(tuning.recommended->runs[0].peak_reserved == 430_MiB);
  CHECK(tuning.live_peak[0] == 430_MiB - 64_B);
}

TEST_CASE("a CUDA search recommends what CUDA takes", "[tune]") {
  const Subject grows = subject_of(stepped(growing));
  TuneOptions options;
  options.run.model = find_model("cuda-caching");
  const Tuning tuning = tune_one(grows, options);
  // 2.6 has pages of 20 MiB only.
  CHECK(paste_line(tuning) == "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
  CHECK(tuning.recommended->runs[0].peak_reserved == 200_MiB);
  options.run.release = find_release(*options.run.model, "2.10");
  CHECK(tune_one(grows, options).recommended->runs[0].peak_reserved == 190_MiB);
}

TEST_CASE("the best common setting is that of the worst case", "[tune]") {
  const std::vector<Subject> subjects{subject_of(stepped(growing), "one"),
                                      subject_of(stepped(intruder), "two")};
  const Tuning tuning = tune(subjects, {});
  CHECK(tuning.peaks == PeakUnit::share_of_now);
  // The split limit alone does nothing for the first, where 130, 160 and 190 MiB add up.
  CHECK(best(tuning).starts_with("expandable_segments:True"));
  REQUIRE(tuning.recommended->runs.size() == 2);
  const auto share = [&](std::size_t i) {
    return static_cast<double>(tuning.recommended->runs[i].peak_reserved.count()) /
           static_cast<double>(tuning.now.runs[i].peak_reserved.count());
  };
  CHECK(tuning.recommended->standing.worst == std::max(share(0), share(1)));
}

TEST_CASE("ranks with the same memory count by their largest peak", "[tune]") {
  std::vector<Subject> subjects{subject_of(stepped(growing), "one"),
                                subject_of(stepped(intruder), "two")};
  TuneOptions options;
  options.run.device_memory = {2_GiB};
  const Tuning tuning = tune(subjects, options);
  CHECK(tuning.peaks == PeakUnit::bytes);
  CHECK(tuning.recommended->standing.worst ==
        static_cast<double>(tuning.recommended->runs[1].peak_reserved.count()));
}

TEST_CASE("traces of several allocators have no common setting", "[tune]") {
  std::vector<Subject> subjects{subject_of(stepped(growing), "one"),
                                subject_of(stepped(growing), "two")};
  subjects[1].history.conditions.model = "cuda-caching";
  CHECK(refusal_of([&] { static_cast<void>(tune(subjects, {})); }) ==
        "two: is of cuda-caching 2.6, but one is of npu-caching 2026-08: one setting for both "
        "means little; choose one with --model and --release");
  TuneOptions options;
  options.run.model = find_model("cuda-caching");
  CHECK(tune(subjects, options).recommended);
}

TEST_CASE("traces recorded under several settings are held against their own", "[tune]") {
  const std::vector<Subject> subjects{
      subject_of(stepped(fmt::format("conf expandable_segments:True\n{}", growing)), "one"),
      subject_of(stepped(growing), "two")};
  const Tuning tuning = tune(subjects, {});
  CHECK(tuning.now.settings == "each as recorded");
  CHECK(tuning.now.runs[0].peak_reserved == 200_MiB);
  CHECK(tuning.now.runs[1].peak_reserved == (102 + 132 + 162 + 192) * 1_MiB);
  CHECK(best(tuning) == "expandable_segments:True,large_segment_size_mb:192");
  CHECK(tuning.recommended->standing.worst == 0.96);
  for (const TunedPoint& point : tuning.front) CHECK(point.settings != tuning.now.settings);
}

TEST_CASE("a trace that does not start as recorded cannot be tuned", "[tune]") {
  const Subject subject = subject_of(stepped(fmt::format("conf page_size:1g\n{}", growing)));
  TuneOptions options;
  options.run.model = find_model("cuda-caching");
  CHECK(refusal_of([&] { static_cast<void>(tune_one(subject, options)); }) ==
        "script: cannot be replayed by cuda-caching as it was recorded: Unrecognized "
        "CachingAllocator option: page_size (--recorded-setting puts other settings in their "
        "place)");
}

TEST_CASE("where empty_cache goes is searched when asked for", "[tune]") {
  const Subject subject = subject_of(stepped(side_stream));
  CHECK(best(tune_one(subject)) == "nothing");
  const Tuning tuning = tune_one(subject, {.empty_cache = EmptyCacheSearch::several_places});
  CHECK(best(tuning) == "no settings and empty_cache at before-step:longest");
  CHECK(paste_line(tuning) == "unset PYTORCH_NPU_ALLOC_CONF");
  CHECK(tuning.recommended->runs[0].peak_reserved == 410_MiB);
}

TEST_CASE("where more is live than the device has, only a smaller workload helps", "[tune]") {
  const Subject subject = subject_of(
      stepped("device_memory 900MiB\nmalloc a 500MiB 0\nmalloc b 300MiB 0\nmalloc c 200MiB 0\n"));
  const Tuning tuning = tune_one(subject);
  CHECK(best(tuning) == "nothing");
  CHECK(says(tuning, "1 request finds no memory, and no fewer under any setting tried."));
  CHECK(says(tuning,
             "1000 MiB are live at once where the allocator may hold 900 MiB: no setting can let"));
  CHECK(tuning.robustness.empty());

  TuneOptions others;
  others.run.device_memory = {2_GiB};
  others.run.others = 1500_MiB;
  CHECK(says(tune_one(subject, others), "where the allocator may hold 548 MiB"));
}

TEST_CASE("a setting under which everything fits is worth any memory", "[tune]") {
  const Subject subject = subject_of(stepped(intruder));
  TuneOptions options;
  options.run.device_memory = {450_MiB};
  const Tuning tuning = tune_one(subject, options);
  CHECK(tuning.now.standing.failures == 1);
  CHECK(tuning.recommended->standing.failures == 0);
  CHECK(says(tuning, "Now 1 request finds no memory; with"));
}

TEST_CASE("the objective of time names what is cheaper at all prices", "[tune]") {
  const Subject subject = subject_of(stepped(intruder));
  const Tuning tuning = tune_one(subject, {.objective = Objective::time});
  CHECK(is_cheaper(tuning.recommended->standing.cost, tuning.now.standing.cost) == Cheaper::yes);
  for (const TunedPoint& point : tuning.front) {
    CHECK(tuning.recommended->standing.cost.mid <= point.standing.cost.mid);
  }
}

TEST_CASE("the balanced objective stays within 5 % of the least peak", "[tune]") {
  const Subject subject = subject_of(stepped(intruder));
  const Tuning tuning = tune_one(subject, {.objective = Objective::balanced});
  REQUIRE(tuning.recommended);
  const double least = tuning.front.front().standing.worst;
  CHECK(tuning.recommended->standing.worst <= 1.05 * least);
  for (const TunedPoint& point : tuning.front) {
    if (point.standing.worst > 1.05 * least) continue;
    CHECK(tuning.recommended->standing.cost.mid <= point.standing.cost.mid);
  }
}

TEST_CASE("one's own settings are tried, or refused in the allocator's words", "[tune]") {
  const Subject subject = subject_of(stepped(intruder));
  TuneOptions options;
  options.run.settings = {{.name = "mine", .text = "max_split_size_mb:77"},
                          {.name = "odd", .text = "max_split_size_mb:5"}};
  const Tuning tuning = tune_one(subject, options);
  CHECK(tuning.advised[0].point->settings == "max_split_size_mb:77");
  CHECK(tuning.advised[0].point->runs[0].peak_reserved == 430_MiB);
  CHECK_FALSE(tuning.advised[1].point);
  CHECK(tuning.advised[1].refusal ==
        "CachingAllocator option max_split_size_mb too small, must be >= 20");
}

TEST_CASE("a limit on points ends the search and is told", "[tune]") {
  const Subject subject = subject_of(stepped(growing));
  const Tuning tuning = tune_one(subject, {.points = 5});
  CHECK(tuning.tried == 5);
  CHECK(tuning.cut_short);
  CHECK(says(tuning, "The search ended after 5 points"));
}

TEST_CASE("settings are tried once, however they are spelt", "[tune]") {
  const Subject subject = subject_of(stepped(growing));
  const std::int64_t plain = tune_one(subject).tried;
  TuneOptions options;
  options.run.settings = {{.name = "a", .text = "max_split_size_mb:128"},
                          {.name = "b", .text = "max_split_size_mb : 128"},
                          {.name = "c", .text = "expandable_segments:False"}};
  const Tuning tuning = tune_one(subject, options);
  CHECK(tuning.tried == plain);
  CHECK(tuning.advised[2].point->standing.worst == 1);
}

TEST_CASE("a heap at the start is placed anew in two orders to see what hangs on it", "[tune]") {
  TraceBuilder builder;
  builder.begin_with(parse_layout("0x7000000000: [A0 30M]\n0x7002000000: [A1 60M][. 10M]\n"));
  builder.deallocate(AllocationId{1});
  const AllocationId grown = builder.allocate(70_MiB);
  builder.deallocate(grown);
  builder.allocate(80_MiB);
  const Subject subject = subject_of(std::move(builder.trace()));
  const Tuning tuning = tune_one(subject);
  REQUIRE(tuning.recorded);
  std::vector<std::string_view> tried;
  for (const Robustness& one : tuning.robustness) tried.push_back(one.id);
  CHECK(tried == std::vector<std::string_view>{
                     "cold_start", "largest_first", "sizes_up", "sizes_down", "less_memory"});
  CHECK(same(tuning.robustness[0].recommended.standing, tuning.recommended->standing));
  CHECK(same(tuning.robustness[0].now.standing, tuning.now.standing));
}

TEST_CASE("a line to paste is one word to a shell, whatever a file holds", "[tune]") {
  const Subject subject = subject_of(stepped(growing));
  Tuning tuning = tune_one(subject);
  tuning.recommended->settings = "roundup_power2_divisions:[256:1,>:4]";
  CHECK(paste_line(tuning) ==
        "export PYTORCH_NPU_ALLOC_CONF='roundup_power2_divisions:[256:1,>:4]'");
  tuning.recommended->settings = "a:$(reboot)'b";
  CHECK(paste_line(tuning) == "export PYTORCH_NPU_ALLOC_CONF='a:$(reboot)'\\''b'");
}

TEST_CASE("a recording is tuned against itself started cold", "[tune][recordings]") {
  const auto file = recording("traces/npu_leak_empty_cache.pickle");
  if (!file) return;
  const std::vector<Subject> subjects = load_subjects(file->string(), {});
  const Tuning tuning = tune(subjects, {});
  REQUIRE(tuning.recorded);
  // What compare says of these, to the byte.
  CHECK(tuning.recorded->runs[0].peak_reserved == subjects[0].history.recorded.peak_reserved);
  CHECK(tuning.now.runs[0].device_allocs == 79);
  CHECK(tuning.advised.front().name == "expandable_segments:True");
  CHECK(tuning.advised.front().point->runs[0].device_allocs == 75);
  REQUIRE(tuning.recommended);
  CHECK(tuning.recommended->standing.worst <= tuning.advised.front().point->standing.worst);
  CHECK(tuning.recommended->runs[0].peak_reserved >= tuning.live_peak[0]);

  TuneOptions options{.empty_cache = EmptyCacheSearch::several_places};
  const Tuning with_calls = tune(subjects, options);
  CHECK(with_calls.recommended->standing.worst <= tuning.recommended->standing.worst);
}

}  // namespace fragcast
