#include "replay/formats/log_lines.hpp"

#include <algorithm>

namespace fragcast {

std::optional<LogLine> LogLines::next() {
  if (!source_.fill(1)) return std::nullopt;
  std::size_t end = std::string_view::npos;
  for (std::size_t searched = 0; searched < longest;) {
    const std::string_view seen = source_.window().substr(0, longest);
    end = seen.find('\n', searched);
    end = std::min(end, seen.substr(0, end).find('\r', searched));
    searched = seen.size();
    // More may come; how much at a time is the stream's affair.
    if (end != std::string_view::npos || searched == longest || !source_.fill(searched + 1)) break;
  }
  const std::string_view window = source_.window().substr(0, longest);
  LogLine line{.text = std::string{window.substr(0, end)}, .number = ends_ + 1};
  binary_ = binary_ || line.text.find('\0') != std::string::npos;
  open_ = end == std::string_view::npos || window[end] != '\n';
  if (!open_) ++ends_;
  source_.consume(end == std::string_view::npos ? window.size() : end + 1);
  return line;
}

}  // namespace fragcast
