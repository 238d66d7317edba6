#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "policies/caching/settings_grammar.hpp"

namespace fragcast {

// Numbers in settings strings, as torch reads them: with the C library, which takes whatever number
// stands at the front of a word and ignores the rest. Such oddities are taken with a warning.

/// A whole number, as std::stoull reads it: "64.5" is 64, and "-5" wraps around to 2^64 − 5.
/// Nothing if `word` does not begin with one below 2^64.
[[nodiscard]] std::optional<std::uint64_t> read_whole(const SettingKey& key,
                                                      const std::string& word,
                                                      ParsedSettings& into);

/// A whole number, as std::stoi reads it and a size_t takes it: "64.5" is 64, and "-5" wraps around
/// to 2^64 − 5. Nothing if `word` does not begin with one that an int holds.
[[nodiscard]] std::optional<std::uint64_t> read_int(const SettingKey& key,
                                                    const std::string& word,
                                                    ParsedSettings& into);

/// A decimal number, as std::stod reads it.
[[nodiscard]] std::optional<double> read_decimal(const SettingKey& key,
                                                 const std::string& word,
                                                 ParsedSettings& into);

/// Says what the key wants instead.
[[nodiscard]] SettingsRefusal not_a_number(const SettingKey& key);

}  // namespace fragcast
