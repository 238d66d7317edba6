#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policies/caching/settings.hpp"

namespace fragcast {

/// Settings as a string gave them, and what in that string was odd though the allocator takes it.
struct ParsedSettings {
  AllocatorSettings settings;
  std::vector<std::string> warnings;
};

/// Why an allocator would not start with a settings string: in its own words where it has some.
struct SettingsRefusal {
  std::string reason;
};

struct SettingKey;

/// What stands behind one key: a single token, or a whole list with its brackets.
///
///     expandable_segments : True , roundup_power2_divisions : [ 256 : 1 , > : 8 ]
///                           ────                              ───────────────────
struct SettingValue {
  const SettingKey& key;
  std::span<const std::string> tokens;
  /// Of the first token in the whole string; some messages name it.
  std::size_t index = 0;

  [[nodiscard]] const std::string& text() const { return tokens.front(); }
};

/// When a key is read. A key's bounds may depend on keys of earlier stages, wherever they stand.
enum class SettingStage : std::uint8_t { segment_size, common, device_specific };

/// Reads a value into `into`, or refuses it.
using SettingReader = std::optional<SettingsRefusal> (*)(const SettingValue& value,
                                                         ParsedSettings& into);
/// The value of a key as a settings string would spell it; the key's default text if it is that.
using SettingWriter = std::string (*)(const AllocatorSettings& settings);

/// One key of an allocator's settings strings.
struct SettingKey {
  std::string_view name;
  SettingStage stage = SettingStage::common;
  SettingReader read = nullptr;
  /// Null for keys that do not bear on device memory: their values are checked and forgotten.
  SettingWriter write = nullptr;
  std::string_view default_text;
  /// What a value is ("a number of MiB") and one that is accepted, for messages.
  std::string_view wants;
  std::string_view example;
  std::string_view meaning;
};

/// Whether anything but the right separator is refused, or taken for it.
enum class Separators : std::uint8_t { unchecked, checked };

/// What `max_non_split_rounding` is where a string does not set it.
enum class UnsetNonSplitRounding : std::uint8_t { follows_segment_size, keeps_its_value };

/// How one allocator reads its settings strings. What allocators have in common is in the parser
/// and in the shared readers; what differs is data here.
struct SettingsGrammar {
  /// What is said before and after a key that is unknown.
  std::string_view unknown_key;
  std::string_view unknown_key_end;
  /// The call that changes settings at run time, as messages name it.
  std::string_view run_time_call;
  std::span<const SettingKey> keys;
  /// The keys that may change at run time; all of them where this is empty.
  std::span<const std::string_view> run_time_keys;
  AllocatorSettings defaults;
  /// What is dropped wherever it stands.
  std::string_view blanks = " \t\n\v\f\r";
  Separators separators = Separators::unchecked;
  UnsetNonSplitRounding unset_non_split_rounding = UnsetNonSplitRounding::follows_segment_size;
  /// Checks the settings against each other once all keys are read.
  std::optional<SettingsRefusal> (*check_together)(ParsedSettings& parsed) = nullptr;
};

}  // namespace fragcast
