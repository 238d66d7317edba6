#include "replay/search/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/random_trace.hpp"
#include "tests/support/stepped.hpp"

namespace fragcast {
namespace {

using Texts = std::vector<std::string>;

const ModelRelease& npu() { return find_model("npu-caching")->default_release(); }
const ModelRelease& cuda(std::string_view name) {
  return *find_release(*find_model("cuda-caching"), name);
}

GridBasis basis(const ModelRelease& release, const SizeProfile& sizes) {
  return {.release = &release,
          .recorded = "",
          .sizes = sizes,
          .reserved_peak = 800_MiB,
          .limit = {},
          .device_memory = {},
          .keys = SettingKeys::usual};
}

/// 30 MiB and 400 MiB, without padding.
SizeProfile two_sizes() {
  return profile_sizes(stepped("malloc a 400MiB 0\nmalloc b 30MiB 0\n"), 0_B);
}

bool has(const Texts& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

bool mentions(const Texts& texts, std::string_view part) {
  return std::any_of(texts.begin(), texts.end(), [part](const std::string& text) {
    return text.find(part) != std::string::npos;
  });
}

/// All that a search could come to from a coarse grid.
Texts reachable(const Grid& grid) {
  Texts all = grid.coarse();
  std::set<std::string> seen{all.begin(), all.end()};
  for (unsigned round = 0; round < 4; ++round) {
    const Texts from = all;
    for (const std::string& text : from) {
      for (std::string& next : grid.around(text, round)) {
        if (all.size() < 400 && seen.insert(next).second) all.push_back(std::move(next));
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("every point is accepted by the allocator, of every release", "[grid]") {
  for (const ModelEntry& model : all_models()) {
    for (const ModelRelease& release : model.releases) {
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const Trace trace =
            random_trace({.calls = 200, .largest_request = 900_MiB}, choose_by_seed(seed));
        GridBasis made = basis(release, profile_sizes(trace, seed % 2 == 0 ? 32_B : 0_B));
        made.reserved_peak = 2 * made.sizes.live_peak;
        made.keys = seed < 3 ? SettingKeys::usual : SettingKeys::all;
        if (seed == 2) made.limit = 20_GiB;
        if (seed == 4) made.device_memory = 60_GiB;
        if (seed == 3) made.recorded = "expandable_segments:True";
        Device device{{}};
        std::size_t refused = 0;
        const Texts texts = reachable(Grid{made});
        for (const std::string& text : texts) {
          const MadeModel result = release.make({.settings = text}, device);
          if (result.model != nullptr && result.warnings.empty()) continue;
          ++refused;
          UNSCOPED_INFO(release.name << ": " << text << ": " << result.refusal);
        }
        CHECK(refused == 0);
        CHECK(texts.size() > 50);
      }
    }
  }
}

TEST_CASE("split sizes come from the trace's own sizes", "[grid]") {
  const Texts texts = Grid{basis(npu(), two_sizes())}.coarse();
  // The gap's upper end and the quantiles: 400 MiB. Round ones lie below.
  for (const int size : {32, 64, 128, 256, 400}) {
    CHECK(has(texts, fmt::format("max_split_size_mb:{}", size)));
  }
  CHECK_FALSE(has(texts, "max_split_size_mb:512"));
  // Pages as large as what is usual.
  CHECK(has(texts, "expandable_segments:True,large_segment_size_mb:400"));
}

TEST_CASE("sizes that allow no split are not split", "[grid]") {
  const SizeProfile small = profile_sizes(stepped("malloc a 19MiB 0\n"), 0_B);
  CHECK_FALSE(mentions(Grid{basis(npu(), small)}.coarse(), "max_split_size_mb"));
  CHECK(has(Grid{basis(npu(), small)}.coarse(), "expandable_segments:True"));
}

TEST_CASE("an NPU's ranges go with neither split limits nor garbage collection", "[grid]") {
  GridBasis limited = basis(npu(), two_sizes());
  limited.limit = 1_GiB;
  for (const std::string& text : reachable(Grid{limited})) {
    if (text.find("expandable_segments") == std::string::npos) continue;
    CHECK(text.find("max_split") == std::string::npos);
    CHECK(text.find("garbage") == std::string::npos);
  }
  CHECK(has(Grid{basis(cuda("2.6"), two_sizes())}.coarse(),
            "expandable_segments:True,max_split_size_mb:400"));
}

TEST_CASE("thresholds come with a fraction", "[grid]") {
  const SizeProfile sizes = two_sizes();
  CHECK_FALSE(mentions(Grid{basis(npu(), sizes)}.coarse(), "garbage"));

  GridBasis limited = basis(npu(), sizes);
  limited.limit = 1000_MiB;
  const Texts with_limit = Grid{limited}.coarse();
  CHECK_FALSE(mentions(with_limit, "fraction"));
  // From the 430 MiB live to the 800 MiB reserved: 430, 522.5, 615, 707.5 of 1000.
  for (const char* threshold : {"0.43", "0.53", "0.62", "0.71", "0.6", "0.8", "0.9"}) {
    CHECK(has(with_limit, fmt::format("garbage_collection_threshold:{}", threshold)));
  }

  GridBasis known = basis(npu(), sizes);
  known.device_memory = 1000_MiB;
  CHECK(has(Grid{known}.coarse(),
            "garbage_collection_threshold:0.8,per_process_memory_fraction:0.95"));
  // CUDA has no key for that.
  known.release = &cuda("2.10");
  CHECK_FALSE(mentions(Grid{known}.coarse(), "garbage"));
}

TEST_CASE("segment sizes are tried where the release knows their key", "[grid]") {
  CHECK(mentions(Grid{basis(cuda("2.10"), two_sizes())}.coarse(), "large_segment_size_mb"));
  CHECK_FALSE(mentions(Grid{basis(cuda("2.6"), two_sizes())}.coarse(), "large_segment_size_mb"));
}

TEST_CASE("rarely used keys are tried when asked for", "[grid]") {
  const std::vector<const char*> keys{
      "roundup_power2_divisions", "page_size", "base_addr_aligned_kb", "multi_stream_lazy_reclaim"};
  GridBasis asked = basis(npu(), two_sizes());
  for (const char* key : keys) CHECK_FALSE(mentions(Grid{asked}.coarse(), key));
  asked.keys = SettingKeys::all;
  for (const char* key : keys) CHECK(mentions(Grid{asked}.coarse(), key));
}

TEST_CASE("keys that are not searched stay as they were recorded", "[grid]") {
  GridBasis recorded = basis(npu(), two_sizes());
  recorded.recorded =
      "max_split_size_mb:64,roundup_power2_divisions:4,pinned_use_background_threads:True";
  const Grid grid{recorded};
  CHECK(grid.with("expandable_segments:True") ==
        "expandable_segments:True,roundup_power2_divisions:4,pinned_use_background_threads:True");
  CHECK(grid.with("expandable_segments:True,max_split_size_mb:64") == std::nullopt);
  for (const std::string& text : grid.coarse()) {
    CHECK(text.find("roundup_power2_divisions:4") != std::string::npos);
    CHECK(text.find("pinned_use_background_threads:True") != std::string::npos);
  }
}

TEST_CASE("refinement goes to neighbouring values in the end", "[grid]") {
  // Block sizes of 20, 21, … 219 MiB.
  std::string script;
  for (int i = 20; i < 220; ++i) script += fmt::format("malloc a{} {}MiB 0\n", i, i);
  const Grid grid{basis(cuda("2.6"), profile_sizes(stepped(script), 0_B))};
  // 200 values: steps of 25 at first.
  CHECK(has(grid.around("max_split_size_mb:100", 0), "max_split_size_mb:75"));
  CHECK(has(grid.around("max_split_size_mb:100", 0), "max_split_size_mb:125"));
  CHECK(has(grid.around("max_split_size_mb:100", 7), "max_split_size_mb:99"));
  CHECK(has(grid.around("max_split_size_mb:100", 7), "max_split_size_mb:101"));
  CHECK(grid.around("no settings at all", 0).empty());
}

TEST_CASE("settings are spelt in one way", "[grid]") {
  CHECK(spelt(npu(), "max_split_size_mb : 128, expandable_segments:False") ==
        "max_split_size_mb:128");
  CHECK(spelt(npu(), "large_segment_size_mb:20") == "");
  CHECK(spelt(npu(), "max_split_size_mb:5") == std::nullopt);
}

}  // namespace fragcast
