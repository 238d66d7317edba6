#include "replay/report/printable.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace fragcast {
namespace {

/// The character that a text begins with; a length of 0 if it does not begin with valid UTF-8.
struct FirstCharacter {
  std::uint32_t code = 0;
  std::size_t length = 0;
};

std::uint32_t byte_at(std::string_view text, std::size_t index) {
  return static_cast<unsigned char>(text[index]);
}

bool is_continuation(std::uint32_t byte) { return (byte & 0xC0U) == 0x80U; }

/// By RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
FirstCharacter first_character(std::string_view text) {
  const std::uint32_t lead = byte_at(text, 0);
  if (lead < 0x80) return {.code = lead, .length = 1};
  const std::size_t length = lead < 0xC0 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length == 0 || lead > 0xF4 || text.size() < length) return {};
  std::uint32_t code = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const std::uint32_t next = byte_at(text, i);
    if (!is_continuation(next)) return {};
    code = code << 6 | (next & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> smallest_of_length{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < smallest_of_length[length] || surrogate || code > 0x10FFFF) return {};
  return {.code = code, .length = length};
}

bool is_control(std::uint32_t code) { return code < 0x20 || (code >= 0x7F && code < 0xA0); }

/// Characters that are not seen themselves but change how their neighbours are.
bool is_invisible(std::uint32_t code) {
  return (code >= 0x200B && code <= 0x200F) ||  // zero width, direction marks
         (code >= 0x2028 && code <= 0x202E) ||  // line ends, embeddings and overrides
         (code >= 0x2066 && code <= 0x2069) ||  // isolates
         code == 0x061C || code == 0xFEFF;
}

void append_escaped(std::string& out, std::uint32_t code) {
  switch (code) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const FirstCharacter first = first_character(text);
    if (first.length == 0) {
      append_escaped(out, byte_at(text, 0));
      text.remove_prefix(1);
      continue;
    }
    if (is_control(first.code) || is_invisible(first.code)) {
      append_escaped(out, first.code);
    } else {
      out.append(text.substr(0, first.length));
    }
    text.remove_prefix(first.length);
  }
  return out;
}

}  // namespace fragcast
