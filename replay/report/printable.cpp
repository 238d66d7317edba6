#include "replay/report/printable.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "replay/formats/utf8.hpp"

namespace fragcast {
namespace {

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
    const Utf8Character first = first_character(text);
    if (first.length == 0) {
      append_escaped(out, static_cast<unsigned char>(text.front()));
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
