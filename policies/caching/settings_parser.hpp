#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "policies/caching/settings_grammar.hpp"

namespace fragcast {

using SettingsResult = std::variant<ParsedSettings, SettingsRefusal>;

/// Reads a settings string as the allocator does when it starts: `key:value,key:[a:b,c:d]`.
///
/// White space counts nowhere. Any of `, : [ ]` passes for another as a separator, as upstream
/// never looks at them twice; that is accepted with a warning. The last of two equal keys wins.
[[nodiscard]] SettingsResult parse_settings(const SettingsGrammar& grammar, std::string_view text);

/// Reads a settings string as a call of the running program does: only some keys may change, and
/// every call first returns `max_split_size_mb`, `roundup_power2_divisions` and
/// `garbage_collection_threshold` to their defaults. A refused call changes nothing.
///
/// The memory fraction in the result is what `throw_on_*_oom` compares with; it sets no limit.
[[nodiscard]] SettingsResult apply_runtime_settings(const SettingsGrammar& grammar,
                                                    const AllocatorSettings& current,
                                                    std::string_view text);

/// The shortest settings string that gives `settings`: what differs from the default, in the order
/// of the grammar. Empty for the default.
[[nodiscard]] std::string canonical_text(const SettingsGrammar& grammar,
                                         const AllocatorSettings& settings);

}  // namespace fragcast
