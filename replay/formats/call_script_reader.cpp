#include <algorithm>
#include <istream>
#include <string>

#include "replay/formats/call_script.hpp"
#include "replay/formats/script_forms.hpp"
#include "replay/formats/script_line.hpp"
#include "replay/formats/script_reader.hpp"

namespace fragcast {

Trace read_call_script(const LineSource& next_line, const std::string& file) {
  ScriptReader reader{file};
  while (const auto line = next_line()) reader.read_line(*line);
  return reader.take_trace();
}

Trace read_call_script(std::istream& input, const std::string& file) {
  std::string line;
  return read_call_script(
      [&]() -> std::optional<std::string_view> {
        if (!std::getline(input, line)) return std::nullopt;
        return line;
      },
      file);
}

bool looks_like_call_script(std::string_view beginning) {
  while (!beginning.empty()) {
    const std::size_t end = std::min(beginning.find('\n'), beginning.size());
    const ScriptLine line{beginning.substr(0, end)};
    if (!line.empty()) return find_script_form(line.word(0)) != nullptr;
    beginning.remove_prefix(std::min(end + 1, beginning.size()));
  }
  return false;
}

}  // namespace fragcast
