#include "replay/formats/long_lines.hpp"

#include <fmt/format.h>

namespace fragcast {

std::optional<std::string_view> LongLines::next() {
  line_.clear();
  bool begun = false;
  while (source_.fill(1)) {
    const std::string_view window = source_.window();
    const std::size_t end = window.find('\n');
    if (end != std::string_view::npos) {
      source_.consume(end + 1);
      // What was consumed stays where it is until the source reads on.
      if (!begun) return window.substr(0, end);
      line_ += window.substr(0, end);
      return line_;
    }
    begun = true;
    line_ += window;
    source_.consume(window.size());
  }
  if (!source_.cut().empty()) {
    throw InputError{source_.at_byte(source_.position()),
                     fmt::format("{} is cut off: take a whole copy", source_.cut())};
  }
  return begun ? std::optional<std::string_view>{line_} : std::nullopt;
}

}  // namespace fragcast
