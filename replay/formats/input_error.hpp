#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace fragcast {

/// Where in an input something is wrong.
struct InputPosition {
  /// As the user named it; empty where the input is not a file.
  std::string file;
  /// From 1; for text.
  std::optional<std::uint64_t> line;
  /// From 0, in the decompressed bytes; for binary files.
  std::optional<std::uint64_t> byte;
};

/// Input that cannot be used. The sentence says what is wrong and what would fix it; `what()` is
/// `FILE:LINE: sentence` or `FILE: byte N: sentence`. `main` prints it and exits 2.
class InputError : public std::runtime_error {
 public:
  InputError(InputPosition position, const std::string& sentence);
  [[nodiscard]] const InputPosition& position() const { return position_; }

 private:
  InputPosition position_;
};

}  // namespace fragcast
