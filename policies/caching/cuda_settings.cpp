#include "policies/caching/cuda_settings.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <string>

#include "policies/caching/setting_numbers.hpp"
#include "policies/caching/settings_readers.hpp"
#include "policies/caching/torch_settings.hpp"

namespace fragcast {
namespace {

std::optional<SettingsRefusal> read_backend(const SettingValue& value, ParsedSettings&) {
  if (value.text() == "native") return std::nullopt;
  if (value.text() == "cudaMallocAsync") {
    return SettingsRefusal{
        "backend:cudaMallocAsync leaves memory to the CUDA driver's own pools, which are not "
        "modelled: only backend:native is"};
  }
  return SettingsRefusal{"Unknown allocator backend, options are native and cudaMallocAsync"};
}

std::optional<SettingsRefusal> check_register_threads(const SettingValue& value,
                                                      ParsedSettings& into) {
  constexpr std::uint64_t most_threads = 128;
  const auto threads = read_int(value.key, value.text(), into);
  if (!threads) return not_a_number(value.key);
  if (!std::has_single_bit(*threads)) {
    return SettingsRefusal{"Number of register threads has to be power of 2 "};
  }
  if (*threads > most_threads) {
    return SettingsRefusal{
        fmt::format("Number of register threads should be less than or equal to {}", most_threads)};
  }
  return std::nullopt;
}

constexpr std::string_view host_only = "host memory only";

/// The keys of CUDA alone, in all versions.
constexpr auto cuda_keys = std::to_array<SettingKey>({
    {.name = "backend",
     .read = read_backend,
     .default_text = "native",
     .wants = "native or cudaMallocAsync",
     .example = "native",
     .meaning = "the allocator itself; cudaMallocAsync is not modelled"},
    {.name = "release_lock_on_cudamalloc",
     .read = check_device_flag,
     .default_text = "False",
     .wants = flag_words,
     .example = "True",
     .meaning = "no effect on device memory"},
    {.name = "release_lock_on_hipmalloc",
     .read = check_device_flag,
     .default_text = "False",
     .wants = flag_words,
     .example = "True",
     .meaning = "the same under ROCm's name"},
    {.name = "pinned_use_cuda_host_register",
     .read = check_device_flag,
     .default_text = "False",
     .wants = flag_words,
     .example = "True",
     .meaning = host_only},
    {.name = "pinned_use_hip_host_register",
     .read = check_device_flag,
     .default_text = "False",
     .wants = flag_words,
     .example = "True",
     .meaning = host_only},
    {.name = "pinned_num_register_threads",
     .read = check_register_threads,
     .default_text = "1",
     .wants = "a power of two up to 128",
     .example = "8",
     .meaning = host_only},
});

/// As 2.6 reads what later became torch's own keys.
constexpr auto keys_2_6 = joined(
    std::to_array<SettingKey>({
        {.name = "expandable_segments",
         .read = device_flag<&AllocatorSettings::expandable_segments>,
         .write = write_flag<&AllocatorSettings::expandable_segments>,
         .default_text = "False",
         .wants = flag_words,
         .example = "True",
         .meaning = "grow address ranges by pages instead of asking for whole segments"},
        {.name = "max_split_size_mb",
         .read = read_int_above_20_mib<&AllocatorSettings::max_split_size>,
         .write = write_max_split_size,
         .default_text = "unlimited",
         .wants = mebibyte_words,
         .example = "128",
         .meaning = "never split blocks of at least this many MiB"},
        {.name = "garbage_collection_threshold",
         .read = read_garbage_collection_2_6,
         .write = write_garbage_collection,
         .default_text = "off",
         .wants = "a fraction between 0 and 1",
         .example = "0.8",
         .meaning = "above this share of the memory limit, release idle segments before asking for "
                    "more; does nothing without a limit"},
        {.name = "max_non_split_rounding_mb",
         .read = read_int_above_20_mib<&AllocatorSettings::max_non_split_rounding>,
         .write = write_mebibytes<&AllocatorSettings::max_non_split_rounding>,
         .default_text = "20",
         .wants = mebibyte_words,
         .example = "40",
         .meaning = "how much larger than the request an unsplittable block may be"},
        {.name = "roundup_power2_divisions",
         .read = read_roundup_divisions_2_6,
         .write = write_roundup_divisions,
         .default_text = "off",
         .wants = "a power of two, or pairs SIZE_MB:DIVISIONS in a list",
         .example = "[256:1,512:2,>:8]",
         .meaning = "round requests up to one of so many steps between two powers of two"},
        {.name = "pinned_use_background_threads",
         .read = check_device_flag,
         .default_text = "False",
         .wants = flag_words,
         .example = "True",
         .meaning = host_only},
    }),
    cuda_keys);

/// What came with later versions.
constexpr auto later_keys = std::to_array<SettingKey>({
    {.name = "pinned_reserve_segment_size_mb",
     .read = check_mebibytes,
     .default_text = "0",
     .wants = mebibyte_words,
     .example = "64",
     .meaning = host_only},
    {.name = "graph_capture_record_stream_reuse",
     .read = check_device_flag,
     .default_text = "False",
     .wants = flag_words,
     .example = "False",
     .meaning = "not modelled: blocks used by other streams during a capture wait for its end"},
});
constexpr auto keys_2_10 = joined(joined(torch_setting_keys, cuda_keys), later_keys);

/// The model has no base alignment; the field is off for CUDA.
constexpr AllocatorSettings cuda_defaults{.base_address_alignment = Bytes{0}};

std::optional<SettingsRefusal> all_go_together(ParsedSettings&) { return std::nullopt; }

constexpr std::string_view run_time_call = "torch.cuda.memory._set_allocator_settings()";

constexpr SettingsGrammar grammar_2_6{
    .unknown_key = "Unrecognized CachingAllocator option: ",
    .unknown_key_end = "",
    .run_time_call = run_time_call,
    .keys = keys_2_6,
    .run_time_keys = {},
    .defaults = cuda_defaults,
    .blanks = " ",
    .separators = Separators::checked,
    .unset_non_split_rounding = UnsetNonSplitRounding::keeps_its_value,
    .check_together = all_go_together,
};

constexpr SettingsGrammar grammar_2_10{
    .unknown_key = "Unrecognized key '",
    .unknown_key_end = "' in CUDA allocator config.",
    .run_time_call = run_time_call,
    .keys = keys_2_10,
    .run_time_keys = {},
    .defaults = cuda_defaults,
    .check_together = all_go_together,
};

}  // namespace

const SettingsGrammar& cuda_2_6_settings_grammar() { return grammar_2_6; }

const SettingsGrammar& cuda_2_10_settings_grammar() { return grammar_2_10; }

}  // namespace fragcast
