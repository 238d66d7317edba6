#include "replay/formats/script_line.hpp"

#include <algorithm>

namespace fragcast {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

ScriptLine::ScriptLine(std::string_view line) : line_{trim(line)} {
  std::size_t i = 0;
  while (i < line_.size() && line_[i] != '#') {
    const std::size_t begin = i;
    if (line_[i] == '@') {
      i = line_.size();
    } else {
      while (i < line_.size() && !is_blank(line_[i])) ++i;
    }
    if (count_ < words_.size()) words_[count_] = line_.substr(begin, i - begin);
    ++count_;
    words_end_ = i;
    while (i < line_.size() && is_blank(line_[i])) ++i;
  }
}

std::string_view ScriptLine::rest() const {
  return trim(line_.substr(words_[0].size(), words_end_ - words_[0].size()));
}

std::string_view ScriptLine::whole_rest() const { return trim(line_.substr(words_[0].size())); }

}  // namespace fragcast
