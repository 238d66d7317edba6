#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace fragcast {

/// JSON put together piece by piece in a buffer that keeps its memory: for the answers of millions
/// of calls, where a tree of values would cost more than the calls.
class JsonText {
 public:
  void clear() { text_.clear(); }
  [[nodiscard]] std::string_view view() const { return {text_.data(), text_.size()}; }

  /// Text that is JSON already.
  JsonText& raw(std::string_view json) {
    text_.append(json.data(), json.data() + json.size());
    return *this;
  }
  JsonText& number(std::int64_t value) {
    const fmt::format_int digits{value};
    return raw({digits.data(), digits.size()});
  }
  JsonText& number(std::uint64_t value) {
    const fmt::format_int digits{value};
    return raw({digits.data(), digits.size()});
  }
  /// The shortest digits that read back as the same number.
  JsonText& number(double value) {
    fmt::format_to(fmt::appender{text_}, "{}", value);
    return *this;
  }
  /// A string in quotes, with what JSON wants escaped.
  JsonText& string(std::string_view value) { return raw("\"").escaped(value).raw("\""); }
  /// The inside of a string.
  JsonText& escaped(std::string_view value);
  /// A comma between two elements: nothing before the first.
  JsonText& separate(bool& first) {
    if (!first) raw(",");
    first = false;
    return *this;
  }

 private:
  fmt::memory_buffer text_;
};

}  // namespace fragcast
