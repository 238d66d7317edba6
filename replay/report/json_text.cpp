#include "replay/report/json_text.hpp"

namespace fragcast {

JsonText& JsonText::escaped(std::string_view value) {
  for (const char c : value) {
    switch (c) {
      case '"':
        raw("\\\"");
        break;
      case '\\':
        raw("\\\\");
        break;
      case '\n':
        raw("\\n");
        break;
      case '\r':
        raw("\\r");
        break;
      case '\t':
        raw("\\t");
        break;
      default:
        if (const auto byte = static_cast<unsigned char>(c); byte < 0x20) {
          fmt::format_to(fmt::appender{text_}, "\\u{:04x}", byte);
        } else {
          text_.push_back(c);
        }
    }
  }
  return *this;
}

}  // namespace fragcast
