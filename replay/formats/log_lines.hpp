#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "replay/formats/byte_source.hpp"

namespace fragcast {

/// A line of a log, or a piece of one that is very long.
struct LogLine {
  std::string text;
  /// From 1; pieces of one line share it.
  std::uint64_t number = 0;
};

/// The lines of anything that may be a log, however long and whatever they hold. Lines also end at
/// a carriage return, by which progress bars write over themselves, and after `longest` bytes.
class LogLines {
 public:
  static constexpr std::size_t longest = std::size_t{64} << 10;

  explicit LogLines(ByteSource source) : source_{std::move(source)} {}

  /// None at the end, also of a text that was cut.
  [[nodiscard]] std::optional<LogLine> next();

  /// Bytes that no text has were seen.
  [[nodiscard]] bool binary() const { return binary_; }
  /// At the end: what was visibly cut off, such as "its gzip stream"; else empty.
  [[nodiscard]] std::string_view cut() const { return source_.cut(); }
  /// How many lines were begun.
  [[nodiscard]] std::uint64_t count() const { return ends_ + (open_ ? 1 : 0); }

 private:
  ByteSource source_;
  std::uint64_t ends_ = 0;
  /// Something stands behind the last line's end.
  bool open_ = false;
  bool binary_ = false;
};

}  // namespace fragcast
