#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace fragcast {

class ScriptLine;
class ScriptReader;

/// What a line of a call script is.
enum class FormKind : std::uint8_t {
  header,  ///< a condition of the replay; before the first call
  call,
  note,  ///< of the writer; no call, and not numbered
};

/// The lines of a call script that begin with one word.
struct ScriptForm {
  std::string_view word;
  /// What follows the word, for messages.
  std::string_view arguments;
  FormKind kind = FormKind::call;
  /// How many words may follow.
  std::size_t least = 0;
  std::size_t most = 0;
  void (*read)(ScriptReader& reader, const ScriptLine& line) = nullptr;
};

/// The whole grammar, the most frequent forms first.
[[nodiscard]] std::span<const ScriptForm> script_forms();

/// The form of lines that begin with `word`, or null.
[[nodiscard]] const ScriptForm* find_script_form(std::string_view word);

}  // namespace fragcast
