#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fragcast {

/// Whether text may carry a terminal's colour codes.
enum class Emphasis : std::uint8_t { plain, terminal };

/// The text in bold, or in red where it is bad news; as it is where emphasis is plain.
[[nodiscard]] inline std::string strong(std::string_view text, Emphasis emphasis) {
  if (emphasis == Emphasis::plain) return std::string{text};
  return std::string{"\x1b[1m"}.append(text).append("\x1b[0m");
}
[[nodiscard]] inline std::string alarming(std::string_view text, Emphasis emphasis) {
  if (emphasis == Emphasis::plain) return std::string{text};
  return std::string{"\x1b[1;31m"}.append(text).append("\x1b[0m");
}

}  // namespace fragcast
