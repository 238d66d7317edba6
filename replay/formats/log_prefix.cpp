#include "replay/formats/log_prefix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace fragcast {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// A word before a number.
struct Mark {
  std::string_view word;
  std::string_view label;
  /// A letter or underscore before it makes it another word.
  bool stands_alone = true;
};

/// The most telling first. In lower case.
constexpr std::array<Mark, 9> marks{{
    {"local_rank", "local rank"},
    {"local rank", "local rank"},
    {"rank", "rank"},
    {"[default", "local rank", false},
    {"[1,", "rank", false},
    {"_tp", "TP", false},
    {"tp", "TP"},
    {"dp", "DP"},
    {"pid", "pid"},
}};

constexpr std::size_t most_digits = 9;
/// Prefixes are short; what is longer is text.
constexpr std::size_t longest_prefix = 400;
/// Where in a line its time can be.
constexpr std::size_t time_within = 64;

std::string lower(std::string_view text) {
  std::string result{text};
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

/// The digits that `text` begins with, if they are a number by themselves.
std::string_view number_at(std::string_view text) {
  const auto* end = std::find_if_not(text.begin(), text.end(), is_digit);
  const auto length = static_cast<std::size_t>(end - text.begin());
  return length <= most_digits ? text.substr(0, length) : std::string_view{};
}

/// The number behind a mark: "3" of `3`, ` 3`, `=3`, `: 3`, `_3`.
std::string_view number_behind(std::string_view text) {
  for (const char separator : std::string_view{" =:_#"}) {
    if (!text.empty() && text.front() == separator) {
      text.remove_prefix(1);
      break;
    }
  }
  if (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return number_at(text);
}

bool begins_word(std::string_view text, std::size_t at) {
  return at == 0 || (!is_letter(text[at - 1]) && text[at - 1] != '_');
}

std::optional<std::string> find_mark(std::string_view text, const Mark& mark) {
  for (std::size_t at = text.find(mark.word); at != std::string_view::npos;
       at = text.find(mark.word, at + 1)) {
    if (mark.stands_alone && !begins_word(text, at)) continue;
    const std::string_view number = number_behind(text.substr(at + mark.word.size()));
    if (!number.empty()) return fmt::format("{} {}", mark.label, number);
  }
  return std::nullopt;
}

/// srun --label: the task's number, then a colon.
std::string task_of(std::string_view prefix) {
  prefix.remove_prefix(std::min(prefix.find_first_not_of(' '), prefix.size()));
  const std::string_view number = number_at(prefix);
  const bool is_label = !number.empty() && prefix.substr(number.size()).starts_with(": ");
  return is_label ? fmt::format("rank {}", number) : std::string{};
}

/// Whether `text` at `at` has the shape, in which 9 stands for any digit.
bool has_shape(std::string_view text, std::size_t at, std::string_view shape) {
  if (at > text.size() || text.size() - at < shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const char c = text[at + i];
    if (shape[i] == '9' ? !is_digit(c) : c != shape[i]) return false;
  }
  return true;
}

/// The fraction of a second at the beginning, as ".125".
std::string fraction_at(std::string_view text) {
  if (text.empty() || (text.front() != '.' && text.front() != ',')) return {};
  const std::string_view digits = number_at(text.substr(1));
  return digits.empty() ? std::string{} : fmt::format(".{}", digits);
}

}  // namespace

std::string writer_of(std::string_view prefix) {
  prefix = prefix.substr(0, longest_prefix);
  const std::string text = lower(prefix);
  for (const Mark& mark : marks) {
    if (auto found = find_mark(text, mark)) return *found;
  }
  return task_of(prefix);
}

std::string time_of(std::string_view line) {
  line = line.substr(0, time_within);
  constexpr std::string_view clock = "99:99:99";
  constexpr std::string_view day = "99-99";
  constexpr std::string_view year = "9999-";
  for (std::size_t colon = line.find(':'); colon != std::string_view::npos;
       colon = line.find(':', colon + 1)) {
    const std::size_t at = colon - std::min<std::size_t>(colon, 2);
    const std::size_t before = day.size() + 1;
    if (!has_shape(line, at, clock) || at < before || !has_shape(line, at - before, day)) continue;
    const char between = line[at - 1];
    if (between != ' ' && between != 'T') continue;
    const std::size_t date = at - before;
    const bool with_year = date >= year.size() && has_shape(line, date - year.size(), year);
    return fmt::format("{}{} {}{}",
                       with_year ? line.substr(date - year.size(), year.size()) : "",
                       line.substr(date, day.size()),
                       line.substr(at, clock.size()),
                       fraction_at(line.substr(at + clock.size())));
  }
  return {};
}

std::size_t shared_prefix(std::string_view first, std::string_view next) {
  const std::size_t length = std::min({first.size(), next.size(), longest_prefix});
  std::size_t same = 0;
  std::size_t boundary = 0;
  bool blank = true;
  for (; same < length; ++same) {
    const char a = first[same];
    const char b = next[same];
    if (a != b && !(is_digit(a) && is_digit(b))) break;
    if (a != ' ' && a != '\t') blank = false;
    if (a == ' ' || a == ':' || a == ']' || a == ')') boundary = same + 1;
  }
  return blank ? 0 : boundary;
}

}  // namespace fragcast
