#include "replay/formats/call_site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <vector>

namespace fragcast {
namespace {

struct Escape {
  char plain;
  std::string_view code;
};
constexpr std::array escapes{Escape{'%', "%25"},
                             Escape{':', "%3A"},
                             Escape{';', "%3B"},
                             Escape{' ', "%20"},
                             Escape{'\t', "%09"},
                             Escape{'\n', "%0A"},
                             Escape{'\r', "%0D"}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Where the line number of a frame stands: the first digits between two colons.
struct LineSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::optional<LineSpan> find_line(std::string_view frame) {
  for (std::size_t colon = frame.find(':'); colon != std::string_view::npos;
       colon = frame.find(':', colon + 1)) {
    const std::size_t begin = colon + 1;
    std::size_t end = begin;
    while (end < frame.size() && is_digit(frame[end])) ++end;
    if (end > begin && end < frame.size() && frame[end] == ':') return LineSpan{begin, end};
  }
  return std::nullopt;
}

std::optional<Frame> parse_frame(std::string_view text, CallStacks& stacks) {
  const auto span = find_line(text);
  if (!span) return std::nullopt;
  Frame frame;
  const auto parsed =
      std::from_chars(text.data() + span->begin, text.data() + span->end, frame.line);
  if (parsed.ec != std::errc{}) return std::nullopt;
  frame.file = stacks.intern(unescape(text.substr(0, span->begin - 1)));
  frame.function = stacks.intern(unescape(text.substr(span->end + 1)));
  return frame;
}

}  // namespace

std::optional<StackId> parse_call_site(std::string_view text, CallStacks& stacks) {
  std::vector<FrameId> innermost_first;
  while (true) {
    const std::size_t end = text.find(';');
    const auto frame = parse_frame(text.substr(0, end), stacks);
    if (!frame) return std::nullopt;
    innermost_first.push_back(stacks.intern(*frame));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  StackId stack;
  std::for_each(innermost_first.rbegin(), innermost_first.rend(), [&](FrameId frame) {
    stack = stacks.intern(stack, frame);
  });
  return stack;
}

std::string call_site_text(const CallStacks& stacks, StackId stack) {
  std::string text;
  for (; stack != StackId{}; stack = stacks.caller(stack)) {
    const Frame& frame = stacks.frame(stacks.innermost(stack));
    if (!text.empty()) text += ';';
    text += fmt::format("{}:{}:{}",
                        escape(stacks.text(frame.file), ":;"),
                        frame.line,
                        escape(stacks.text(frame.function), ";"));
  }
  return text;
}

std::string escape(std::string_view text, std::string_view punctuation) {
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool at_an_end = i == 0 || i + 1 == text.size();
    const bool must = c == '%' || c == '\n' || c == '\r' || (at_an_end && is_blank(c)) ||
                      punctuation.find(c) != std::string_view::npos;
    const auto known =
        std::find_if(escapes.begin(), escapes.end(), [c](const Escape& e) { return e.plain == c; });
    if (must && known != escapes.end()) {
      escaped += known->code;
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string unescape(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const auto known = std::find_if(escapes.begin(), escapes.end(), [text](const Escape& e) {
      return text.starts_with(e.code);
    });
    plain += known != escapes.end() ? known->plain : text.front();
    text.remove_prefix(known != escapes.end() ? known->code.size() : 1);
  }
  return plain;
}

}  // namespace fragcast
