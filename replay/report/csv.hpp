#pragma once

#include <fmt/format.h>

#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace fragcast {

/// A field as RFC 4180 has it: in quotes if it holds what would end it.
[[nodiscard]] std::string csv_field(std::string_view field);

/// Hands rows on in large pieces: streams cost more by the piece than rows do to format.
class CsvRows {
 public:
  explicit CsvRows(std::ostream& output) : output_{output} {}
  ~CsvRows() { hand_on(); }
  CsvRows(const CsvRows&) = delete;
  CsvRows& operator=(const CsvRows&) = delete;

  template <class... Cells>
  void add(fmt::format_string<Cells...> row, Cells&&... cells) {
    fmt::format_to(fmt::appender{text_}, row, std::forward<Cells>(cells)...);
    constexpr std::size_t piece = std::size_t{1} << 16;
    if (text_.size() >= piece) hand_on();
  }

 private:
  void hand_on();

  std::ostream& output_;
  fmt::memory_buffer text_;
};

}  // namespace fragcast
