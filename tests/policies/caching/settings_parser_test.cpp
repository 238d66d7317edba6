#include "policies/caching/settings_parser.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "policies/caching/npu_settings.hpp"
#include "tests/support/catch.hpp"

namespace fragcast {
namespace {

SettingsResult parse(std::string_view text) { return parse_settings(npu_settings_grammar(), text); }

AllocatorSettings accepted(const SettingsResult& result) {
  INFO((std::holds_alternative<SettingsRefusal>(result) ? std::get<SettingsRefusal>(result).reason
                                                        : ""));
  REQUIRE(std::holds_alternative<ParsedSettings>(result));
  return std::get<ParsedSettings>(result).settings;
}

std::string refusal(const SettingsResult& result) {
  REQUIRE(std::holds_alternative<SettingsRefusal>(result));
  return std::get<SettingsRefusal>(result).reason;
}

/// The only warning that accepting `text` brings.
std::string warning(std::string_view text) {
  const SettingsResult result = parse(text);
  REQUIRE(std::holds_alternative<ParsedSettings>(result));
  const auto& warnings = std::get<ParsedSettings>(result).warnings;
  REQUIRE(warnings.size() == 1);
  return warnings.front();
}

std::string canonical(std::string_view text) {
  return canonical_text(npu_settings_grammar(), accepted(parse(text)));
}

// The recorder shortens the C library's and torch's internal messages to these; ours say more.
bool is_abbreviated(const std::string& why) {
  return why == "value missing" || why == "not a number";
}

}  // namespace

TEST_CASE("settings strings are accepted and refused as torch_npu does, in its words",
          "[settings]") {
  std::ifstream recorded{FRAGCAST_SOURCE_DIR "/tests/golden/npu-conf.jsonl"};
  int count = 0;
  for (std::string line; std::getline(recorded, line); ++count) {
    const auto answer = nlohmann::json::parse(line);
    const std::string text = answer["conf"];
    INFO("settings: " << text);
    const SettingsResult result = parse(text);
    REQUIRE(std::holds_alternative<ParsedSettings>(result) == answer["accepted"].get<bool>());
    if (answer["accepted"].get<bool>()) {
      const AllocatorSettings settings = accepted(result);
      CHECK(accepted(parse(canonical_text(npu_settings_grammar(), settings))) == settings);
      continue;
    }
    const std::string why = answer["why"];
    if (is_abbreviated(why)) {
      CHECK_FALSE(refusal(result).empty());
    } else {
      CHECK(refusal(result) == why);
    }
  }
  CHECK(count == 71);
}

TEST_CASE("the default of every option is what the table says", "[settings]") {
  for (const SettingKey& key : npu_settings_grammar().keys) {
    INFO(key.name);
    if (key.write != nullptr) CHECK(key.write(AllocatorSettings{}) == key.default_text);
  }
}

TEST_CASE("the example of every option is accepted without a warning", "[settings]") {
  for (const SettingKey& key : npu_settings_grammar().keys) {
    const std::string text = std::string{key.name} + ":" + std::string{key.example};
    INFO(text);
    const SettingsResult result = parse(text);
    REQUIRE(std::holds_alternative<ParsedSettings>(result));
    CHECK(std::get<ParsedSettings>(result).warnings.empty());
  }
}

TEST_CASE("an empty string gives the default settings", "[settings]") {
  CHECK(accepted(parse("")) == AllocatorSettings{});
  CHECK(accepted(parse("   ")) == AllocatorSettings{});
}

TEST_CASE("every key is stored in its unit", "[settings]") {
  const AllocatorSettings settings =
      accepted(parse("max_split_size_mb:128,garbage_collection_threshold:0.8,"
                     "max_non_split_rounding_mb:48,large_segment_size_mb:32,base_addr_aligned_kb:4,"
                     "per_process_memory_fraction:0.5,multi_stream_lazy_reclaim:True,"
                     "throw_on_npumalloc_oom:True"));
  CHECK(settings.max_split_size == 128_MiB);
  CHECK(settings.garbage_collection_threshold == 0.8);
  CHECK(settings.max_non_split_rounding == 48_MiB);
  CHECK(settings.large_segment_size == 32_MiB);
  CHECK(settings.base_address_alignment == 4_KiB);
  CHECK(settings.per_process_memory_fraction == 0.5);
  CHECK(settings.multi_stream_lazy_reclaim);
  CHECK(settings.throw_on_oom);
  CHECK_FALSE(settings.expandable_segments);

  CHECK(accepted(parse("expandable_segments:True")).expandable_segments);
  CHECK(accepted(parse("segment_size_mb:50")).segment_size == 50_MiB);
  CHECK(accepted(parse("page_size:1g")).gigabyte_pages);
}

TEST_CASE("max_non_split_rounding follows large_segment_size unless it is given", "[settings]") {
  CHECK(accepted(parse("large_segment_size_mb:64")).max_non_split_rounding == 64_MiB);
  CHECK(accepted(parse("max_non_split_rounding_mb:80,large_segment_size_mb:64"))
            .max_non_split_rounding == 80_MiB);
}

TEST_CASE("a number of roundup divisions holds for all sizes", "[settings]") {
  const auto divisions = accepted(parse("roundup_power2_divisions:4")).roundup_power2_divisions;
  CHECK(std::all_of(divisions.begin(), divisions.end(), [](auto d) { return d == 4; }));
}

TEST_CASE("a list of roundup divisions fills below its first entry and above its last",
          "[settings]") {
  const auto of = [](std::string_view list) {
    return accepted(parse("roundup_power2_divisions:" + std::string{list}))
        .roundup_power2_divisions;
  };
  using Divisions = decltype(AllocatorSettings::roundup_power2_divisions);
  CHECK(of("[256:1,512:2,1024:4,>:8]") ==
        Divisions{1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 8, 8, 8, 8});
  CHECK(of("[1:8,64:4,256:2,>:0]") == Divisions{8, 0, 0, 0, 0, 0, 4, 0, 2});
  CHECK(of("[4:2]") == Divisions{2, 2, 2});
  CHECK(of("[65536:2]") == Divisions{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2});
  CHECK(of("[>:4]") == Divisions{0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4});
  CHECK(of("[]") == Divisions{});
}

TEST_CASE("a list of roundup divisions with half a pair is refused", "[settings]") {
  const std::string expected =
      "roundup_power2_divisions needs a power of two, or pairs SIZE_MB:DIVISIONS in a list, such "
      "as roundup_power2_divisions:[256:1,512:2,>:8]";
  for (const char* list : {"[256]", "[256:]", "[256:4,512]", "[256:4,512:]", "[256]4", "[:]"}) {
    INFO(list);
    CHECK(refusal(parse(std::string{"roundup_power2_divisions:"} + list)) == expected);
  }
}

TEST_CASE("a value that is missing or no number is refused with one that would do", "[settings]") {
  CHECK(refusal(parse("max_split_size_mb")) ==
        "max_split_size_mb needs a value, such as max_split_size_mb:128");
  CHECK(refusal(parse("max_split_size_mb:abc")) ==
        "max_split_size_mb needs a number of MiB, such as max_split_size_mb:128");
  CHECK(refusal(parse("garbage_collection_threshold:x")) ==
        "garbage_collection_threshold needs a fraction between 0 and 1, such as "
        "garbage_collection_threshold:0.8");
  CHECK(refusal(parse("base_addr_aligned_kb:99999999999")) ==
        "base_addr_aligned_kb needs a number of KiB, such as base_addr_aligned_kb:16");
  CHECK(refusal(parse("roundup_power2_divisions:[256:1,512:2")) ==
        "the list of roundup_power2_divisions has no end: close it with ]");
}

TEST_CASE("no NaN and no infinity passes for a fraction", "[settings]") {
  for (const char* text : {"garbage_collection_threshold:nan",
                           "garbage_collection_threshold:inf",
                           "per_process_memory_fraction:nan",
                           "per_process_memory_fraction:-inf",
                           "per_process_memory_fraction:1e999"}) {
    INFO(text);
    CHECK_FALSE(refusal(parse(text)).empty());
  }
}

TEST_CASE("nonsense that torch_npu accepts is accepted with a warning", "[settings]") {
  CHECK(warning("max_split_size_mb:64.5") ==
        "max_split_size_mb: '64.5' is read as 64: the allocator ignores what follows the number");
  CHECK(warning("max_split_size_mb:-5") ==
        "max_split_size_mb: '-5' wraps around to 18446744073709551611: leave the sign out");
  CHECK(warning("garbage_collection_threshold:0.8x") ==
        "garbage_collection_threshold: '0.8x' is read as 0.8: the allocator ignores what follows "
        "the number");
  CHECK(warning("max_split_size_mb,64") ==
        "',' near max_split_size_mb is taken for ':': the allocator does not look");
  CHECK(warning("max_split_size_mb:64:page_size:1g") ==
        "':' near max_split_size_mb is taken for ',': the allocator does not look");
  CHECK(warning("max_split_size_mb:64,max_split_size_mb:128") ==
        "max_split_size_mb is given 2 times: the last one counts");
  CHECK(warning("max_split_size_mb:99999999999") ==
        "max_split_size_mb is taken as 1073741824 MiB, more than any device has");
}

TEST_CASE("a wrapped size is no longer unlimited, so expandable segments refuse it", "[settings]") {
  CHECK(accepted(parse("max_split_size_mb:-5")).max_split_size != Bytes::unlimited());
  CHECK_FALSE(refusal(parse("max_split_size_mb:-5,expandable_segments:True")).empty());
}

TEST_CASE("keys are checked before any value is read", "[settings]") {
  CHECK(refusal(parse("max_split_size_mb:abc,foo:1")) ==
        "Unrecognized key 'foo' in NPU allocator config, ");
}

TEST_CASE("canonical text names only what differs from the default", "[settings]") {
  CHECK(canonical("").empty());
  CHECK(canonical("max_split_size_mb:128,expandable_segments:False") == "max_split_size_mb:128");
  CHECK(canonical("per_process_memory_fraction:0.50,expandable_segments:True") ==
        "expandable_segments:True,per_process_memory_fraction:0.5");
  CHECK(canonical("large_segment_size_mb:64,max_non_split_rounding_mb:64") ==
        "large_segment_size_mb:64");
  CHECK(canonical("roundup_power2_divisions:[256:1,512:2,1024:4,>:8]") ==
        "roundup_power2_divisions:[256:1,512:2,1024:4,2048:8,>:8]");
  CHECK(canonical("roundup_power2_divisions:[1:8,2:8,16:2]") ==
        "roundup_power2_divisions:[2:8,16:2,32:0,>:0]");
  CHECK(canonical("pinned_mem_register:True").empty());
}

namespace {

SettingsResult change(std::string_view start, std::string_view text) {
  return apply_runtime_settings(npu_settings_grammar(), accepted(parse(start)), text);
}

}  // namespace

TEST_CASE("a change at run time returns some keys to their defaults first", "[settings]") {
  const AllocatorSettings settings = accepted(
      change("max_split_size_mb:64,roundup_power2_divisions:4,garbage_collection_threshold:0.5,"
             "large_segment_size_mb:32,multi_stream_lazy_reclaim:True",
             "throw_on_npumalloc_oom:True"));
  CHECK(settings.max_split_size == Bytes::unlimited());
  CHECK(settings.roundup_power2_divisions[0] == 0);
  CHECK(settings.garbage_collection_threshold == 0.0);
  CHECK(settings.throw_on_oom);
  CHECK(settings.large_segment_size == 32_MiB);
  CHECK(settings.multi_stream_lazy_reclaim);
}

TEST_CASE("a change at run time to nothing changes nothing", "[settings]") {
  CHECK(accepted(change("max_split_size_mb:64", "")).max_split_size == 64_MiB);
}

TEST_CASE("expandable segments may replace a split limit at run time", "[settings]") {
  const AllocatorSettings settings =
      accepted(change("max_split_size_mb:64", "expandable_segments:True"));
  CHECK(settings.expandable_segments);
  CHECK(settings.max_split_size == Bytes::unlimited());
}

TEST_CASE("a change at run time may not touch most keys", "[settings]") {
  CHECK(refusal(change("", "garbage_collection_threshold:0.8")) ==
        "torch_npu.npu.memory._set_allocator_settings() unsupported setting: "
        "garbage_collection_threshold");
  CHECK(refusal(change("", "foo:1")) == "Unrecognized key 'foo' in NPU allocator config, ");
  CHECK(refusal(change("large_segment_size_mb:64", "max_split_size_mb:32")) ==
        "CachingAllocator option max_split_size_mb too small, must be >= 64");
}

}  // namespace fragcast
