#include "policies/caching/settings_readers.hpp"

#include "policies/caching/setting_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace fragcast {
namespace {

std::uint64_t mebibytes(Bytes size) { return static_cast<std::uint64_t>(size / 1_MiB); }

SettingsRefusal too_small(const SettingValue& value, Bytes minimum) {
  return {fmt::format(
      "CachingAllocator option {} too small, must be >= {}", value.key.name, mebibytes(minimum))};
}

/// Takes a number of MiB, up to what any device has.
Bytes capped(std::uint64_t number, const SettingValue& value, ParsedSettings& into) {
  const std::uint64_t most = mebibytes(largest_setting);
  if (number > most && value.text().front() != '-') {
    into.warnings.push_back(
        fmt::format("{} is taken as {} MiB, more than any device has", value.key.name, most));
  }
  return static_cast<std::int64_t>(std::min(number, most)) * 1_MiB;
}

}  // namespace

std::optional<SettingsRefusal> read_mebibytes(const SettingValue& value,
                                              const MebibyteBound& bound,
                                              ParsedSettings& into,
                                              Bytes& target) {
  const auto number = read_whole(value.key, value.text(), into);
  if (!number) return not_a_number(value.key);
  if (*number < mebibytes(bound.minimum)) return SettingsRefusal{bound.refusal};
  target = capped(*number, value, into);
  return std::nullopt;
}

std::optional<SettingsRefusal> read_int_above_20_mib(const SettingValue& value,
                                                     ParsedSettings& into,
                                                     Bytes& target) {
  const auto number = read_int(value.key, value.text(), into);
  if (!number) return not_a_number(value.key);
  if (*number <= 20) {
    return SettingsRefusal{
        fmt::format("CachingAllocator option {} too small, must be > 20", value.key.name)};
  }
  target = capped(*number, value, into);
  return std::nullopt;
}

std::optional<SettingsRefusal> check_mebibytes(const SettingValue& value, ParsedSettings& into) {
  if (!read_whole(value.key, value.text(), into)) return not_a_number(value.key);
  return std::nullopt;
}

std::optional<SettingsRefusal> read_fraction(const SettingValue& value,
                                             ParsedSettings& into,
                                             double& target) {
  const auto number = read_decimal(value.key, value.text(), into);
  if (!number) return not_a_number(value.key);
  target = *number;
  return std::nullopt;
}

std::optional<SettingsRefusal> read_torch_flag(const SettingValue& value, bool& target) {
  if (value.text() != "True" && value.text() != "False") {
    return SettingsRefusal{
        fmt::format("Expected 'True' or 'False' at index {} in ConfigTokenizer but got '{}'",
                    value.index,
                    value.text())};
  }
  target = value.text() == "True";
  return std::nullopt;
}

std::optional<SettingsRefusal> read_device_flag(const SettingValue& value, bool& target) {
  if (value.text() != "True" && value.text() != "False") {
    return SettingsRefusal{
        fmt::format("Expected a single True/False argument for {}", value.key.name)};
  }
  target = value.text() == "True";
  return std::nullopt;
}

std::optional<SettingsRefusal> check_torch_flag(const SettingValue& value, ParsedSettings&) {
  bool forgotten = false;
  return read_torch_flag(value, forgotten);
}

std::optional<SettingsRefusal> check_device_flag(const SettingValue& value, ParsedSettings&) {
  bool forgotten = false;
  return read_device_flag(value, forgotten);
}

std::optional<SettingsRefusal> read_large_segment_size(const SettingValue& value,
                                                       ParsedSettings& into) {
  return read_mebibytes(
      value,
      {.minimum = 11_MiB,
       .refusal = "CachingAllocator option large_segment_size_mb must be > 10 MB"},
      into,
      into.settings.large_segment_size);
}

std::optional<SettingsRefusal> read_max_split_size(const SettingValue& value,
                                                   ParsedSettings& into) {
  const Bytes minimum = into.settings.large_segment_size;
  return read_mebibytes(value,
                        {.minimum = minimum, .refusal = too_small(value, minimum).reason},
                        into,
                        into.settings.max_split_size);
}

std::optional<SettingsRefusal> read_max_non_split_rounding(const SettingValue& value,
                                                           ParsedSettings& into) {
  const Bytes minimum = into.settings.large_segment_size;
  return read_mebibytes(value,
                        {.minimum = minimum, .refusal = too_small(value, minimum).reason},
                        into,
                        into.settings.max_non_split_rounding);
}

std::optional<SettingsRefusal> read_garbage_collection(const SettingValue& value,
                                                       ParsedSettings& into) {
  double threshold = 0.0;
  if (auto refusal = read_fraction(value, into, threshold)) return refusal;
  if (!(threshold > 0.0 && threshold < 1.0)) {
    return SettingsRefusal{"garbage_collect_threshold is invalid, set it in (0.0, 1.0)"};
  }
  into.settings.garbage_collection_threshold = threshold;
  return std::nullopt;
}

std::optional<SettingsRefusal> read_garbage_collection_2_6(const SettingValue& value,
                                                           ParsedSettings& into) {
  double threshold = 0.0;
  if (auto refusal = read_fraction(value, into, threshold)) return refusal;
  if (!(threshold > 0.0)) {
    return SettingsRefusal{"garbage_collect_threshold too small, set it 0.0~1.0"};
  }
  if (!(threshold < 1.0)) {
    return SettingsRefusal{"garbage_collect_threshold too big, set it 0.0~1.0"};
  }
  into.settings.garbage_collection_threshold = threshold;
  return std::nullopt;
}

std::string write_large_segment_size(const AllocatorSettings& settings) {
  return fmt::format("{}", mebibytes(settings.large_segment_size));
}

std::string write_max_split_size(const AllocatorSettings& settings) {
  if (settings.max_split_size == Bytes::unlimited()) return "unlimited";
  return fmt::format("{}", mebibytes(settings.max_split_size));
}

std::string write_max_non_split_rounding(const AllocatorSettings& settings) {
  if (settings.max_non_split_rounding == settings.large_segment_size) {
    return "large_segment_size_mb";
  }
  return fmt::format("{}", mebibytes(settings.max_non_split_rounding));
}

std::string write_garbage_collection(const AllocatorSettings& settings) {
  if (settings.garbage_collection_threshold == 0.0) return "off";
  return fmt::format("{}", settings.garbage_collection_threshold);
}

}  // namespace fragcast
