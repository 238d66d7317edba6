#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "replay/trace/trace.hpp"

namespace fragcast {

// Call scripts: one call a line, the format to write small cases by hand, and of workloads that
// were generated. The grammar is in replay/formats/README.md.
//
//     device_memory 1GiB
//     malloc w1 530MiB 0 @train.py:12:forward;train.py:40:main
//     free w1

/// Hands out the next line without its end, or nothing at the end. A line is valid until the next
/// call.
using LineSource = std::function<std::optional<std::string_view>()>;

/// Reads a script. Throws InputError naming `file` and the line of what cannot be used.
[[nodiscard]] Trace read_call_script(const LineSource& next_line, const std::string& file);
[[nodiscard]] Trace read_call_script(std::istream& input, const std::string& file);

/// Whether a text that begins so is a call script: its first line that is neither blank nor a
/// comment begins with a word of the grammar.
[[nodiscard]] bool looks_like_call_script(std::string_view beginning);

/// Writes a script that reads back as the same trace; allocations are named by their numbers.
/// Throws InputError for what a script cannot say: a heap before the first event, and an allocation
/// of which only the rounded size is known.
void write_call_script(const Trace& trace, std::ostream& output);

/// One event as the line of a script, without its end.
[[nodiscard]] std::string call_line(const Trace& trace, const Event& event);

}  // namespace fragcast
