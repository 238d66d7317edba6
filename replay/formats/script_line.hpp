#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace fragcast {

/// One line of a call script, cut into words at blanks. A word that begins with `#` ends the line;
/// one that begins with `@` is a call site and reaches to the end of it, blanks included.
class ScriptLine {
 public:
  explicit ScriptLine(std::string_view line);

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t count() const { return count_; }
  /// The word at `index`, below 5 and below `count()`.
  [[nodiscard]] std::string_view word(std::size_t index) const { return words_[index]; }
  /// Everything between the first word and the end or a comment.
  [[nodiscard]] std::string_view rest() const;
  /// The same, where `#` begins no comment.
  [[nodiscard]] std::string_view whole_rest() const;

 private:
  std::string_view line_;
  std::array<std::string_view, 5> words_;
  std::size_t count_ = 0;
  std::size_t words_end_ = 0;
};

}  // namespace fragcast
