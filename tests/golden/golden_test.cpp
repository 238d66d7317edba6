// What the real allocators answered, call by call, against what the models answer.

#include <fmt/format.h>

#include <string>

#include "policies/registry.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden_script.hpp"
#include "tests/support/recordings.hpp"

namespace fragcast {
namespace {

/// Every `of`-th script, from the `part`-th: so that the parts of a large directory run side by
/// side and take about as long.
struct Share {
  std::size_t part = 0;
  std::size_t of = 1;
};

constexpr std::string_view npu = "npu-caching";
constexpr std::string_view cuda = "cuda-caching";

constexpr CheckInterval after_every_event{.events = 1};

RunSpec spec_of(std::string_view model, std::optional<std::string> settings = {}) {
  RunSpec spec;
  spec.model = find_model(model);
  spec.settings = std::move(settings);
  return spec;
}

void check_scripts(std::string_view model,
                   const std::filesystem::path& directory,
                   Share share = {}) {
  const std::vector<GoldenScript> scripts = golden_scripts(directory);
  REQUIRE_FALSE(scripts.empty());
  for (std::size_t i = share.part; i < scripts.size(); i += share.of) {
    INFO(scripts[i].script.string());
    CHECK(run_golden_script(scripts[i], spec_of(model), after_every_event) == "");
  }
}

void check_kept_scripts(std::string_view model, std::string_view directory) {
  check_scripts(model, std::filesystem::path{FRAGCAST_SOURCE_DIR} / "tests/golden" / directory);
}

void check_recorded_scripts(std::string_view model, std::string_view directory, Share share = {}) {
  if (const auto found = recording(directory)) check_scripts(model, *found, share);
}

void check_big(std::string_view name, const std::string& settings) {
  const auto directory = recording("golden/big");
  if (!directory) return;
  const GoldenScript golden{
      .script = *directory / "big_mixed_seed9001.txt.gz",
      .answers = *directory / fmt::format("big_mixed_seed9001_{}.every1000.jsonl.gz", name)};
  CHECK(run_golden_script(golden, spec_of(npu, settings), {.events = 1000}) == "");
}

TEST_CASE("the NPU model answers the scripts kept with the tests as recorded", "[golden]") {
  check_kept_scripts(npu, "npu");
}

TEST_CASE("the NPU model answers golden/cases as recorded", "[golden]") {
  check_recorded_scripts(npu, "golden/cases");
}

TEST_CASE("the NPU model answers golden/rules as recorded", "[golden]") {
  check_recorded_scripts(npu, "golden/rules");
}

TEST_CASE("the NPU model answers golden/npu as recorded, part 1 of 4", "[golden]") {
  check_recorded_scripts(npu, "golden/npu", {.part = 0, .of = 4});
}

TEST_CASE("the NPU model answers golden/npu as recorded, part 2 of 4", "[golden]") {
  check_recorded_scripts(npu, "golden/npu", {.part = 1, .of = 4});
}

TEST_CASE("the NPU model answers golden/npu as recorded, part 3 of 4", "[golden]") {
  check_recorded_scripts(npu, "golden/npu", {.part = 2, .of = 4});
}

TEST_CASE("the NPU model answers golden/npu as recorded, part 4 of 4", "[golden]") {
  check_recorded_scripts(npu, "golden/npu", {.part = 3, .of = 4});
}

TEST_CASE("the NPU model answers golden/big as recorded under default settings", "[golden]") {
  check_big("default", "");
}

TEST_CASE("the NPU model answers golden/big as recorded under expandable segments", "[golden]") {
  check_big("exp", "expandable_segments:True");
}

TEST_CASE("the NPU model answers golden/big as recorded under max_split_size_mb:128", "[golden]") {
  check_big("ms128", "max_split_size_mb:128");
}

TEST_CASE("the CUDA model answers the scripts kept with the tests as recorded", "[golden]") {
  check_kept_scripts(cuda, "cuda");
}

TEST_CASE("the CUDA model answers golden/cuda as recorded, part 1 of 2", "[golden]") {
  check_recorded_scripts(cuda, "golden/cuda", {.part = 0, .of = 2});
}

TEST_CASE("the CUDA model answers golden/cuda as recorded, part 2 of 2", "[golden]") {
  check_recorded_scripts(cuda, "golden/cuda", {.part = 1, .of = 2});
}

}  // namespace
}  // namespace fragcast
