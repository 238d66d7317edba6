#pragma once

#include <string>
#include <string_view>

namespace fragcast {

/// Text from a file as it may be shown on a terminal: one line, in which nothing but visible
/// characters reaches the terminal. Control characters, characters that turn the direction of
/// writing, and bytes that are no UTF-8 are written as `\n`, `\t`, `\x1b` or `\u202e`. Everything
/// else is left alone, backslashes (of Windows paths) too.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace fragcast
