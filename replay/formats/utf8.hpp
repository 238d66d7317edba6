#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fragcast {

/// A character at the beginning of a text.
struct Utf8Character {
  /// Its number in Unicode.
  std::uint32_t code = 0;
  /// In bytes; 0 if what is there is no UTF-8.
  std::size_t length = 0;
};

/// The first character of a text that is not empty, by RFC 3629: no overlong forms, no surrogates,
/// nothing above U+10FFFF.
[[nodiscard]] Utf8Character first_character(std::string_view text);

/// The text with U+FFFD for each byte that is no UTF-8 where it is.
[[nodiscard]] std::string valid_utf8(std::string_view text);

}  // namespace fragcast
