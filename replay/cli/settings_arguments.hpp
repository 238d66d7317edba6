#pragma once

#include <string>
#include <vector>

#include "replay/compare/compare.hpp"

namespace fragcast {

/// Reads `[NAME=]CONF`; without a name the settings are their own. Throws InputError at `where`.
[[nodiscard]] NamedSettings parse_named_settings(const std::string& text,
                                                 const InputPosition& where);

/// Reads a file of them, one a line; blank lines and lines that begin with # are skipped.
[[nodiscard]] std::vector<NamedSettings> read_settings_file(const std::string& file);

}  // namespace fragcast
