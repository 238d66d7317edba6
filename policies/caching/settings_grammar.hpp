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

/// Whether a running program may still change a key.
enum class AtRunTime : std::uint8_t { fixed, changeable };

/// Reads a value into `into`, or refuses it.
using SettingReader = std::optional<SettingsRefusal> (*)(const SettingValue& value,
                                                         ParsedSettings& into);
/// The value of a key as a settings string would spell it; the key's default text if it is that.
using SettingWriter = std::string (*)(const AllocatorSettings& settings);

/// One key of an allocator's settings strings.
struct SettingKey {
  std::string_view name;
  SettingStage stage = SettingStage::common;
  AtRunTime at_run_time = AtRunTime::fixed;
  SettingReader read = nullptr;
  /// Null for keys that do not bear on device memory: their values are checked and forgotten.
  SettingWriter write = nullptr;
  std::string_view default_text;
  /// What a value is ("a number of MiB") and one that is accepted, for messages.
  std::string_view wants;
  std::string_view example;
  std::string_view meaning;
};

/// How one allocator reads its settings strings. What allocators have in common is in the parser
/// and in the shared readers; what differs is data here.
struct SettingsGrammar {
  /// As messages name it, such as "NPU".
  std::string_view device;
  /// The call that changes settings at run time, as messages name it.
  std::string_view run_time_call;
  std::span<const SettingKey> keys;
  /// Checks the settings against each other once all keys are read; may add warnings.
  std::optional<SettingsRefusal> (*check_together)(ParsedSettings& parsed) = nullptr;
};

}  // namespace fragcast
