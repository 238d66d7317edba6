#include "policies/caching/cuda_settings.hpp"

#include <string>
#include <variant>

#include "policies/caching/settings_parser.hpp"
#include "tests/support/catch.hpp"

namespace fragcast {
namespace {

ParsedSettings accepted(std::string_view text,
                        const SettingsGrammar& grammar = cuda_2_6_settings_grammar()) {
  SettingsResult result = parse_settings(grammar, text);
  INFO(text << (std::holds_alternative<SettingsRefusal>(result)
                    ? ": " + std::get<SettingsRefusal>(result).reason
                    : ""));
  REQUIRE(std::holds_alternative<ParsedSettings>(result));
  return std::get<ParsedSettings>(result);
}

std::string refusal(std::string_view text,
                    const SettingsGrammar& grammar = cuda_2_6_settings_grammar()) {
  const SettingsResult result = parse_settings(grammar, text);
  INFO(text);
  REQUIRE(std::holds_alternative<SettingsRefusal>(result));
  return std::get<SettingsRefusal>(result).reason;
}

std::vector<std::uint32_t> divisions(std::string_view text, const SettingsGrammar& grammar) {
  const auto& all = accepted("roundup_power2_divisions:" + std::string{text}, grammar)
                        .settings.roundup_power2_divisions;
  return {all.begin(), all.end()};
}

TEST_CASE("defaults, examples and canonical texts of CUDA's settings hold", "[settings]") {
  for (const SettingsGrammar* grammar :
       {&cuda_2_6_settings_grammar(), &cuda_2_10_settings_grammar()}) {
    CHECK(accepted("", *grammar).settings == grammar->defaults);
    for (const SettingKey& key : grammar->keys) {
      const std::string text = std::string{key.name} + ":" + std::string{key.example};
      INFO(text);
      const ParsedSettings parsed = accepted(text, *grammar);
      CHECK(parsed.warnings.empty());
      CHECK(accepted(canonical_text(*grammar, parsed.settings), *grammar).settings ==
            parsed.settings);
      if (key.write != nullptr) CHECK(key.write(grammar->defaults) == key.default_text);
    }
  }
}

TEST_CASE("what the NPU refuses together goes together on CUDA", "[settings]") {
  const AllocatorSettings settings =
      accepted("expandable_segments:True,max_split_size_mb:128,garbage_collection_threshold:0.8")
          .settings;
  CHECK(settings.expandable_segments);
  CHECK(settings.max_split_size == 128_MiB);
  CHECK(settings.garbage_collection_threshold == 0.8);
  CHECK(settings.base_address_alignment == 0_B);
}

TEST_CASE("torch 2.6 refuses in its own words", "[settings]") {
  CHECK(refusal("max_split_size_mb:20") ==
        "CachingAllocator option max_split_size_mb too small, must be > 20");
  CHECK(accepted("max_split_size_mb:21").settings.max_split_size == 21_MiB);
  CHECK(refusal("max_non_split_rounding_mb:20") ==
        "CachingAllocator option max_non_split_rounding_mb too small, must be > 20");
  CHECK(refusal("garbage_collection_threshold:0") ==
        "garbage_collect_threshold too small, set it 0.0~1.0");
  CHECK(refusal("garbage_collection_threshold:1") ==
        "garbage_collect_threshold too big, set it 0.0~1.0");
  CHECK(refusal("expandable_segments:true") ==
        "Expected a single True/False argument for expandable_segments");
  CHECK(refusal("roundup_power2_divisions:[3:4]") ==
        "For roundups, the intervals have to be power of 2 ");
  CHECK(refusal("page_size:1g") == "Unrecognized CachingAllocator option: page_size");
  CHECK(refusal("large_segment_size_mb:64") ==
        "Unrecognized CachingAllocator option: large_segment_size_mb");
  CHECK(refusal("pinned_num_register_threads:3") ==
        "Number of register threads has to be power of 2 ");
  CHECK(refusal("pinned_num_register_threads:256") ==
        "Number of register threads should be less than or equal to 128");
  CHECK(refusal("backend:jemalloc") ==
        "Unknown allocator backend, options are native and cudaMallocAsync");
}

TEST_CASE("torch 2.6 looks at every separator", "[settings]") {
  const std::string expected = "Error parsing CachingAllocator settings, expected ";
  CHECK(refusal("max_split_size_mb,64") == expected + ":");
  CHECK(refusal("max_split_size_mb:64:expandable_segments:True") == expected + ",");
  CHECK(refusal("roundup_power2_divisions:[256,1]") == expected + ":");
  CHECK(refusal("roundup_power2_divisions:[256:1:512:2]") == expected + ",");
  CHECK(accepted("roundup_power2_divisions:[256:1,]").warnings.empty());
}

TEST_CASE("torch 2.6 drops spaces and no other blanks", "[settings]") {
  CHECK(accepted(" max_split_size_mb : 64 ").warnings.empty());
  CHECK(refusal("\tmax_split_size_mb:64") ==
        "Unrecognized CachingAllocator option: \tmax_split_size_mb");
}

TEST_CASE("torch 2.6 reads ints, and negative ones as huge", "[settings]") {
  CHECK_FALSE(refusal("max_split_size_mb:3000000000").empty());
  CHECK(accepted("max_split_size_mb:64.5").settings.max_split_size == 64_MiB);
  CHECK(accepted("max_split_size_mb:-5").settings.max_split_size > 1024_GiB);
}

TEST_CASE("in a list of divisions, > fills from the last entry in 2.6, and behind it later",
          "[settings]") {
  const std::string_view list = "[256:1,512:2,1024:4,>:8]";
  CHECK(divisions(list, cuda_2_6_settings_grammar()) ==
        std::vector<std::uint32_t>{1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 8, 8, 8, 8, 8, 8});
  CHECK(divisions(list, cuda_2_10_settings_grammar()) ==
        std::vector<std::uint32_t>{1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 8, 8, 8, 8});
  CHECK(divisions("[>:4]", cuda_2_6_settings_grammar()) == std::vector<std::uint32_t>(16, 4));
}

TEST_CASE("cudaMallocAsync is recognised, and said not to be modelled", "[settings]") {
  CHECK(accepted("backend:native").warnings.empty());
  CHECK(refusal("backend:cudaMallocAsync").find("not modelled") != std::string::npos);
}

TEST_CASE("a running CUDA program may change every key", "[settings]") {
  const auto changed = [](std::string_view start, std::string_view text) {
    const SettingsResult result =
        apply_runtime_settings(cuda_2_6_settings_grammar(), accepted(start).settings, text);
    REQUIRE(std::holds_alternative<ParsedSettings>(result));
    return std::get<ParsedSettings>(result).settings;
  };
  const AllocatorSettings settings =
      changed("expandable_segments:True,max_split_size_mb:64,max_non_split_rounding_mb:40",
              "garbage_collection_threshold:0.5");
  CHECK(settings.expandable_segments);
  CHECK(settings.max_split_size == Bytes::unlimited());
  CHECK(settings.max_non_split_rounding == 40_MiB);
  CHECK(settings.garbage_collection_threshold == 0.5);
}

}  // namespace
}  // namespace fragcast
