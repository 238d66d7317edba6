#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "policies/caching/settings_grammar.hpp"
#include "policies/caching/settings_readers.hpp"

namespace fragcast {

inline constexpr std::string_view flag_words = "True or False";
inline constexpr std::string_view mebibyte_words = "a number of MiB";

/// The keys that torch itself defines for the allocators of all devices since 2.9
/// (c10/core/AllocatorConfig, AcceleratorAllocatorConfig).
inline constexpr auto torch_setting_keys = std::to_array<SettingKey>({
    {.name = "expandable_segments",
     .read = torch_flag<&AllocatorSettings::expandable_segments>,
     .write = write_flag<&AllocatorSettings::expandable_segments>,
     .default_text = "False",
     .wants = flag_words,
     .example = "True",
     .meaning = "grow address ranges by pages instead of asking for whole segments"},
    {.name = "max_split_size_mb",
     .read = read_max_split_size,
     .write = write_max_split_size,
     .default_text = "unlimited",
     .wants = mebibyte_words,
     .example = "128",
     .meaning = "never split blocks of at least this many MiB"},
    {.name = "garbage_collection_threshold",
     .read = read_garbage_collection,
     .write = write_garbage_collection,
     .default_text = "off",
     .wants = "a fraction between 0 and 1",
     .example = "0.8",
     .meaning = "above this share of the memory limit, release idle segments before asking for "
                "more; does nothing without a limit"},
    {.name = "max_non_split_rounding_mb",
     .read = read_max_non_split_rounding,
     .write = write_max_non_split_rounding,
     .default_text = "large_segment_size_mb",
     .wants = mebibyte_words,
     .example = "40",
     .meaning = "how much larger than the request an unsplittable block may be"},
    {.name = "large_segment_size_mb",
     .stage = SettingStage::segment_size,
     .read = read_large_segment_size,
     .write = write_large_segment_size,
     .default_text = "20",
     .wants = mebibyte_words,
     .example = "64",
     .meaning = "segment for requests of 1 to 10 MiB, and page of expandable segments"},
    {.name = "roundup_power2_divisions",
     .read = read_roundup_divisions,
     .write = write_roundup_divisions,
     .default_text = "off",
     .wants = "a power of two, or pairs SIZE_MB:DIVISIONS in a list",
     .example = "[256:1,512:2,>:8]",
     .meaning = "round requests up to one of so many steps between two powers of two"},
    {.name = "pinned_use_background_threads",
     .read = check_torch_flag,
     .default_text = "False",
     .wants = flag_words,
     .example = "True",
     .meaning = "host memory only"},
    {.name = "pinned_max_round_threshold_mb",
     .read = check_mebibytes,
     .default_text = "unlimited",
     .wants = mebibyte_words,
     .example = "64",
     .meaning = "host memory only"},
    {.name = "pinned_max_cached_size_mb",
     .read = check_mebibytes,
     .default_text = "unlimited",
     .wants = mebibyte_words,
     .example = "64",
     .meaning = "host memory only"},
});

/// Two arrays, one behind the other.
template <class Item, std::size_t First, std::size_t Second>
constexpr std::array<Item, First + Second> joined(const std::array<Item, First>& first,
                                                  const std::array<Item, Second>& second) {
  std::array<Item, First + Second> all{};
  std::copy(first.begin(), first.end(), all.begin());
  std::copy(second.begin(), second.end(), all.begin() + First);
  return all;
}

}  // namespace fragcast
