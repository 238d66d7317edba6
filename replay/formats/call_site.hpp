#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "replay/trace/call_stacks.hpp"

namespace fragcast {

// Call stacks as call scripts write them: FILE:LINE:FUNCTION;FILE:LINE:FUNCTION;… innermost first.
// What would be taken for punctuation is written as %XX: %25 for %, %3A and %3B for : and ;, %20
// for a blank at either end, %0A and %0D for line ends. No other %XX means anything.

/// The stack that `text` describes; nothing if a frame is not FILE:LINE:FUNCTION.
[[nodiscard]] std::optional<StackId> parse_call_site(std::string_view text, CallStacks& stacks);

/// The text of a stack that is not empty.
[[nodiscard]] std::string call_site_text(const CallStacks& stacks, StackId stack);

/// Puts %XX for `%`, line ends and every character of `punctuation`, and for a blank at either end.
[[nodiscard]] std::string escape(std::string_view text, std::string_view punctuation);
/// Undoes `escape`, for any punctuation.
[[nodiscard]] std::string unescape(std::string_view text);

}  // namespace fragcast
