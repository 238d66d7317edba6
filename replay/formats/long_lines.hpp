#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "replay/formats/byte_source.hpp"

namespace fragcast {

/// The lines of a text, however long: an answer that tells a whole history is one line.
class LongLines {
 public:
  explicit LongLines(ByteSource source) : source_{std::move(source)} {}

  /// The next line without its "\n"; none at the end. Valid until the next call. Throws InputError
  /// when the text was cut.
  [[nodiscard]] std::optional<std::string_view> next();

 private:
  ByteSource source_;
  /// A line that did not lie in the source's window as a whole.
  std::string line_;
};

}  // namespace fragcast
