#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "replay/formats/oom_message.hpp"

namespace fragcast {

/// What was found of an out-of-memory message in a text without blanks.
struct OomMatch {
  enum class State : std::uint8_t {
    none,        ///< nothing, not even a mention
    mention,     ///< "out of memory", without a figure
    partial,     ///< the message stops before its last figure: something else follows
    unfinished,  ///< the text ends within the message (or within what may become one)
    complete,
  };
  State state = State::none;
  OomMessage message;
  /// Of the text: [begin, end).
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The first out-of-memory message at or behind `from`, or the first mention if there is none. All
/// blanks are to be taken out of the text before: logs wrap their lines anywhere, and no two
/// neighbours in a message are told apart by blanks alone.
[[nodiscard]] OomMatch find_oom(std::string_view squeezed, std::size_t from = 0);

}  // namespace fragcast
