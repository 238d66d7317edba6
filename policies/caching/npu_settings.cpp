#include "policies/caching/npu_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>

#include "policies/caching/setting_numbers.hpp"
#include "policies/caching/settings_readers.hpp"
#include "policies/caching/torch_settings.hpp"

namespace fragcast {
namespace {

bool all_digits(const std::string& word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// The keys of which torch_npu wants digits only. Nothing if they make no int.
std::optional<std::int64_t> read_int(const std::string& digits) {
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{}) return std::nullopt;
  return number;
}

SettingsRefusal not_digits(const SettingKey& key) {
  return {fmt::format("CachingAllocator option {} is invalid.", key.name)};
}

std::optional<SettingsRefusal> read_base_address_alignment(const SettingValue& value,
                                                           ParsedSettings& into) {
  if (!all_digits(value.text())) return not_digits(value.key);
  const auto kib = read_int(value.text());
  if (!kib) return not_a_number(value.key);
  const bool leading_zero = value.text().size() != std::to_string(*kib).size();
  if (leading_zero || *kib > 16) {
    return SettingsRefusal{
        "CachingAllocator option base_addr_aligned_kb error, must be [0~16], dtype is int"};
  }
  into.settings.base_address_alignment = *kib * 1_KiB;
  return std::nullopt;
}

std::optional<SettingsRefusal> read_segment_size(const SettingValue& value, ParsedSettings& into) {
  if (!all_digits(value.text())) return not_digits(value.key);
  const auto mib = read_int(value.text());
  if (!mib) return not_a_number(value.key);
  if (*mib < 20 || *mib > 512) {
    return SettingsRefusal{
        "CachingAllocator option segment_size_mb error, must be [20, 512], dtype is int"};
  }
  into.settings.segment_size = *mib * 1_MiB;
  return std::nullopt;
}

std::optional<SettingsRefusal> read_page_size(const SettingValue& value, ParsedSettings& into) {
  if (value.text() != "1g") {
    return SettingsRefusal{fmt::format("Unsupported page_size value: {}", value.text())};
  }
  into.settings.gigabyte_pages = true;
  return std::nullopt;
}

std::optional<SettingsRefusal> read_memory_fraction(const SettingValue& value,
                                                    ParsedSettings& into) {
  double fraction = 0.0;
  if (auto refusal = read_fraction(value, into, fraction)) return refusal;
  if (!(fraction >= 0.0 && fraction <= 1.0)) {
    return SettingsRefusal{"per_process_memory_fraction is invalid, set it in [0.0, 1.0]"};
  }
  into.settings.per_process_memory_fraction = fraction;
  return std::nullopt;
}

std::string write_base_address_alignment(const AllocatorSettings& settings) {
  return fmt::format("{}", settings.base_address_alignment / 1_KiB);
}

std::string write_segment_size(const AllocatorSettings& settings) {
  return settings.segment_size ? fmt::format("{}", *settings.segment_size / 1_MiB) : "unset";
}

std::string write_page_size(const AllocatorSettings& settings) {
  return settings.gigabyte_pages ? "1g" : "unset";
}

std::string write_memory_fraction(const AllocatorSettings& settings) {
  return fmt::format("{}", settings.per_process_memory_fraction);
}

std::optional<SettingsRefusal> check_together(ParsedSettings& parsed) {
  const AllocatorSettings& settings = parsed.settings;
  const bool limits_splits = settings.max_split_size != Bytes::unlimited();
  if (settings.expandable_segments &&
      (limits_splits || settings.garbage_collection_threshold != 0.0)) {
    return SettingsRefusal{
        "`max_split_size_mb` or `garbage_collection_threshold`, cannot be enabled with "
        "`expandable_segments`, please set `expandable_segments` to `False`."};
  }
  return std::nullopt;
}

using enum SettingStage;

constexpr auto npu_keys = std::to_array<SettingKey>({
    {.name = "segment_size_mb",
     .stage = device_specific,
     .read = read_segment_size,
     .write = write_segment_size,
     .default_text = "unset",
     .wants = mebibyte_words,
     .example = "64",
     .meaning = "page of expandable segments (deprecated: large_segment_size_mb)"},
    {.name = "page_size",
     .stage = device_specific,
     .read = read_page_size,
     .write = write_page_size,
     .default_text = "unset",
     .wants = "1g",
     .example = "1g",
     .meaning = "1g: the large pool takes memory in units of 1 GiB"},
    {.name = "base_addr_aligned_kb",
     .stage = device_specific,
     .read = read_base_address_alignment,
     .write = write_base_address_alignment,
     .default_text = "16",
     .wants = "a number of KiB",
     .example = "16",
     .meaning = "alignment of blocks from 2 MiB on in expandable segments, 0 to 16"},
    {.name = "per_process_memory_fraction",
     .stage = device_specific,
     .read = read_memory_fraction,
     .write = write_memory_fraction,
     .default_text = "1",
     .wants = "a fraction from 0 to 1",
     .example = "0.9",
     .meaning = "limit to this share of the device's memory"},
    {.name = "multi_stream_lazy_reclaim",
     .stage = device_specific,
     .read = device_flag<&AllocatorSettings::multi_stream_lazy_reclaim>,
     .write = write_flag<&AllocatorSettings::multi_stream_lazy_reclaim>,
     .default_text = "False",
     .wants = flag_words,
     .example = "True",
     .meaning = "look at other streams' finished work only when memory is short"},
    {.name = "throw_on_npumalloc_oom",
     .stage = device_specific,
     .read = device_flag<&AllocatorSettings::throw_on_oom>,
     .write = write_flag<&AllocatorSettings::throw_on_oom>,
     .default_text = "False",
     .wants = flag_words,
     .example = "True",
     .meaning = "reject what exceeds per_process_memory_fraction before asking the device"},
    {.name = "release_lock_on_npumalloc",
     .stage = device_specific,
     .read = check_device_flag,
     .default_text = "False",
     .wants = flag_words,
     .example = "True",
     .meaning = "no effect on device memory"},
    {.name = "pinned_mem_register",
     .stage = device_specific,
     .read = check_device_flag,
     .default_text = "False",
     .wants = flag_words,
     .example = "True",
     .meaning = "host memory only"},
    {.name = "pin_memory_expandable_segments",
     .stage = device_specific,
     .read = check_device_flag,
     .default_text = "False",
     .wants = flag_words,
     .example = "True",
     .meaning = "host memory only"},
    {.name = "pinned_reserve_segment_size_mb",
     .stage = device_specific,
     .read = check_mebibytes,
     .default_text = "0",
     .wants = mebibyte_words,
     .example = "64",
     .meaning = "host memory only"},
});
constexpr auto keys = joined(torch_setting_keys, npu_keys);

constexpr auto run_time_keys = std::to_array<std::string_view>({
    "expandable_segments",
    "max_split_size_mb",
    "max_non_split_rounding_mb",
    "per_process_memory_fraction",
    "throw_on_npumalloc_oom",
    "release_lock_on_npumalloc",
    "pinned_max_round_threshold_mb",
    "pinned_max_cached_size_mb",
});

constexpr SettingsGrammar grammar{
    .unknown_key = "Unrecognized key '",
    .unknown_key_end = "' in NPU allocator config, ",
    .run_time_call = "torch_npu.npu.memory._set_allocator_settings()",
    .keys = keys,
    .run_time_keys = run_time_keys,
    .defaults = {},
    .check_together = check_together,
};

}  // namespace

const SettingsGrammar& npu_settings_grammar() { return grammar; }

}  // namespace fragcast
