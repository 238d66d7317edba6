#include "tests/golden/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace fragcast {
namespace {

constexpr std::string_view fence = "```";
constexpr std::string_view prompt = "$ ";
constexpr std::string_view program = "fragcast";

[[noreturn]] void fail(std::size_t line, const std::string& why) {
  throw std::invalid_argument{fmt::format("line {}: {}", line + 1, why)};
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Words as a shell reads them, as far as blanks and quotes go; anything else that a shell would
/// act on is refused.
std::vector<std::string> split_words(std::string_view text, std::size_t line) {
  constexpr std::string_view special = "|&;<>*?`\\()";
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (const char c : text) {
    const bool quoted = quote != 0;
    if (quoted && c == quote) {
      quote = 0;
    } else if (!quoted && c == ' ') {
      in_word = false;
    } else {
      if (!in_word) words.emplace_back();
      in_word = true;
      if (!quoted && (c == '"' || c == '\'')) {
        quote = c;
      } else if (!quoted && special.find(c) != std::string_view::npos) {
        fail(line, fmt::format("'{}' is for a shell, and there is none: quote it", c));
      } else {
        words.back() += c;
      }
    }
  }
  if (quote != 0) fail(line, "a quote is not closed");
  return words;
}

/// Walks over the lines of a page, block by block.
class Parser {
 public:
  explicit Parser(std::string_view text) { page_.lines = split_lines(text); }

  Page parse() {
    while (at_ < page_.lines.size()) {
      const std::string line = page_.lines[at_];
      ++at_;
      if (line.starts_with(fence)) block(line.substr(fence.size()));
    }
    return std::move(page_);
  }

 private:
  /// The block between its fences; `info` is what its opening fence says.
  void block(std::string_view info) {
    const std::size_t begin = at_;
    while (at_ < page_.lines.size() && page_.lines[at_] != fence) ++at_;
    if (at_ == page_.lines.size()) fail(begin - 1, "this block is not closed by ```");
    const std::vector<std::string> words = split_words(info, begin - 1);
    if (words.size() == 2) {
      file(words[1], begin);
    } else if (words.size() == 1 && words[0] == "console") {
      console(begin);
    }
    ++at_;
  }

  void file(const std::string& name, std::size_t begin) {
    if (name.find('/') != std::string::npos) fail(begin - 1, "a file of a page has no directory");
    std::string content;
    for (std::size_t i = begin; i < at_; ++i) content += page_.lines[i] + "\n";
    page_.files.push_back({.name = name, .content = std::move(content)});
  }

  void console(std::size_t begin) {
    for (std::size_t i = begin; i < at_;) {
      const std::size_t line = i++;
      const bool command = page_.lines[line].starts_with(prompt);
      if (!command && line == begin) fail(line, "a console begins with a command: $ …");
      while (i < at_ && !page_.lines[i].starts_with(prompt)) ++i;
      const std::string text = page_.lines[line].substr(prompt.size());
      if (text != program && !text.starts_with(fmt::format("{} ", program))) continue;
      std::vector<std::string> arguments = split_words(text, line);
      arguments.erase(arguments.begin());
      page_.commands.push_back({.arguments = std::move(arguments),
                                .text = text,
                                .line = line,
                                .output_begin = line + 1,
                                .output_end = i});
    }
  }

  Page page_;
  std::size_t at_ = 0;
};

}  // namespace

bool Page::wants_recordings() const {
  return std::any_of(commands.begin(), commands.end(), [](const PageCommand& command) {
    return command.text.find("$RECORDINGS") != std::string::npos;
  });
}

std::vector<std::string> Page::expected_output(const PageCommand& command) const {
  const auto at = [&](std::size_t line) {
    return lines.begin() + static_cast<std::ptrdiff_t>(line);
  };
  std::vector<std::string> output(at(command.output_begin), at(command.output_end));
  // A blank line before the next command or the fence is for the eye.
  while (!output.empty() && output.back().empty()) output.pop_back();
  return output;
}

Page parse_page(std::string_view text) { return Parser{text}.parse(); }

std::vector<std::string> shown(const CommandResult& result) {
  std::vector<std::string> lines = split_lines(result.output);
  for (const std::string& line : split_lines(result.errors)) lines.push_back("2> " + line);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  if (result.status != 0) lines.push_back(fmt::format("exit status {}", result.status));
  return lines;
}

std::string rewritten(const Page& page, const std::vector<std::vector<std::string>>& outputs) {
  std::string text;
  std::size_t copied = 0;
  const auto copy_to = [&](std::size_t end) {
    for (; copied < end; ++copied) text += page.lines[copied] + "\n";
  };
  for (std::size_t i = 0; i < page.commands.size(); ++i) {
    const PageCommand& command = page.commands[i];
    copy_to(command.output_begin);
    for (const std::string& line : outputs[i]) text += line + "\n";
    copied = command.output_begin + page.expected_output(command).size();
  }
  copy_to(page.lines.size());
  return text;
}

std::string difference(const std::vector<std::string>& expected,
                       const std::vector<std::string>& actual) {
  if (expected == actual) return {};
  const auto [e_begin, a_begin] =
      std::mismatch(expected.begin(), expected.end(), actual.begin(), actual.end());
  auto e_end = expected.end();
  auto a_end = actual.end();
  while (e_end != e_begin && a_end != a_begin && *std::prev(e_end) == *std::prev(a_end)) {
    --e_end;
    --a_end;
  }
  std::string text;
  std::for_each(expected.begin(), e_begin, [&](const auto& line) { text += "  " + line + "\n"; });
  std::for_each(e_begin, e_end, [&](const auto& line) { text += "- " + line + "\n"; });
  std::for_each(a_begin, a_end, [&](const auto& line) { text += "+ " + line + "\n"; });
  std::for_each(e_end, expected.end(), [&](const auto& line) { text += "  " + line + "\n"; });
  return text;
}

}  // namespace fragcast
