#pragma once

#include <optional>
#include <string>

#include "policies/caching/settings_grammar.hpp"

namespace fragcast {

// Readers and writers that the grammars of several allocators share. Numbers are read as torch
// reads them, with the C library: what follows the digits is ignored, "-5" wraps around.

/// The largest size a settings string can ask for. Upstream's limit is 2^64; nothing that this
/// leaves out has a device to run on, and sums of such sizes stay far from overflow.
inline constexpr Bytes largest_setting = 1024 * 1024_GiB;

/// Reads a number of MiB of at least `minimum`; `refusal` is the sentence where it is less.
struct MebibyteBound {
  Bytes minimum;
  std::string refusal;
};
[[nodiscard]] std::optional<SettingsRefusal> read_mebibytes(const SettingValue& value,
                                                            const MebibyteBound& bound,
                                                            ParsedSettings& into,
                                                            Bytes& target);

/// Reads a number of MiB that bears on host memory only: checked, then forgotten.
std::optional<SettingsRefusal> check_mebibytes(const SettingValue& value, ParsedSettings& into);

/// Reads a decimal fraction.
[[nodiscard]] std::optional<SettingsRefusal> read_fraction(const SettingValue& value,
                                                           ParsedSettings& into,
                                                           double& target);

/// Reads exactly `True` or `False`, with the words of torch's own keys in the refusal.
[[nodiscard]] std::optional<SettingsRefusal> read_torch_flag(const SettingValue& value,
                                                             bool& target);
/// The same with the words of a device's keys.
[[nodiscard]] std::optional<SettingsRefusal> read_device_flag(const SettingValue& value,
                                                              bool& target);

/// One reader for each flag that the settings hold.
template <bool AllocatorSettings::*Flag>
std::optional<SettingsRefusal> torch_flag(const SettingValue& value, ParsedSettings& into) {
  return read_torch_flag(value, into.settings.*Flag);
}
template <bool AllocatorSettings::*Flag>
std::optional<SettingsRefusal> device_flag(const SettingValue& value, ParsedSettings& into) {
  return read_device_flag(value, into.settings.*Flag);
}
/// Flags without effect on device memory: checked, then forgotten.
std::optional<SettingsRefusal> check_torch_flag(const SettingValue& value, ParsedSettings& into);
std::optional<SettingsRefusal> check_device_flag(const SettingValue& value, ParsedSettings& into);

template <bool AllocatorSettings::*Flag>
std::string write_flag(const AllocatorSettings& settings) {
  return settings.*Flag ? "True" : "False";
}

template <Bytes AllocatorSettings::*Size>
std::string write_mebibytes(const AllocatorSettings& settings) {
  return std::to_string(settings.*Size / 1_MiB);
}

/// The sizes of torch 2.6, which reads ints and wants more than 20 MiB.
[[nodiscard]] std::optional<SettingsRefusal> read_int_above_20_mib(const SettingValue& value,
                                                                   ParsedSettings& into,
                                                                   Bytes& target);
template <Bytes AllocatorSettings::*Size>
std::optional<SettingsRefusal> read_int_above_20_mib(const SettingValue& value,
                                                     ParsedSettings& into) {
  return read_int_above_20_mib(value, into, into.settings.*Size);
}

// The keys that torch itself defines for all devices (c10/core/AllocatorConfig, torch 2.9), and as
// torch 2.6 read those of the same names.
std::optional<SettingsRefusal> read_large_segment_size(const SettingValue&, ParsedSettings&);
std::optional<SettingsRefusal> read_max_split_size(const SettingValue&, ParsedSettings&);
std::optional<SettingsRefusal> read_max_non_split_rounding(const SettingValue&, ParsedSettings&);
std::optional<SettingsRefusal> read_garbage_collection(const SettingValue&, ParsedSettings&);
std::optional<SettingsRefusal> read_garbage_collection_2_6(const SettingValue&, ParsedSettings&);
std::optional<SettingsRefusal> read_roundup_divisions(const SettingValue&, ParsedSettings&);
std::optional<SettingsRefusal> read_roundup_divisions_2_6(const SettingValue&, ParsedSettings&);

std::string write_large_segment_size(const AllocatorSettings&);
std::string write_max_split_size(const AllocatorSettings&);
std::string write_max_non_split_rounding(const AllocatorSettings&);
std::string write_garbage_collection(const AllocatorSettings&);
std::string write_roundup_divisions(const AllocatorSettings&);

}  // namespace fragcast
