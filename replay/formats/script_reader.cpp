#include "replay/formats/script_reader.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "replay/formats/call_site.hpp"
#include "replay/trace/quantity.hpp"

namespace fragcast {
namespace {

std::string all_words() {
  std::string list;
  for (const ScriptForm& form : script_forms()) {
    if (!list.empty()) list += ", ";
    list += form.word;
  }
  return list;
}

}  // namespace

void ScriptReader::read_line(std::string_view text) {
  ++line_;
  const ScriptLine line{text};
  if (line.empty()) return;
  const ScriptForm* form = find_script_form(line.word(0));
  if (form == nullptr) {
    fail(fmt::format("'{}' begins no line of a call script: {} do", line.word(0), all_words()));
  }
  check_words(*form, line);
  if (form->kind == FormKind::header) {
    check_header(*form);
  } else {
    header_is_over_ = true;
  }
  form->read(*this, line);
}

Trace ScriptReader::take_trace() {
  trace_.source_entries = calls_;
  return std::move(trace_);
}

Event& ScriptReader::add_note(EventKind kind) {
  Event event;
  event.source = calls_;
  event.kind = kind;
  trace_.events.push_back(event);
  return trace_.events.back();
}

void ScriptReader::add(Control control) {
  const auto detail = static_cast<std::uint32_t>(trace_.controls.size());
  trace_.controls.push_back(std::move(control));
  add(EventKind::control).detail = detail;
}

void ScriptReader::check_words(const ScriptForm& form, const ScriptLine& line) const {
  const std::size_t given = line.count() - 1;
  if (given >= form.least && given <= form.most) return;
  fail(fmt::format("{} words follow {}: write {}{}", given, form.word, form.word, form.arguments));
}

void ScriptReader::check_header(const ScriptForm& form) {
  if (header_is_over_) {
    fail(fmt::format("{} is a header line: it must stand before the first call", form.word));
  }
  const auto [found, is_new] = header_lines_.try_emplace(form.word, line_);
  if (!is_new) fail(fmt::format("{} was already given at line {}", form.word, found->second));
}

NamedAllocation& ScriptReader::live(std::string_view call_word, std::string_view name) {
  NamedAllocation* named = names_.find(name);
  if (named == nullptr) {
    fail(fmt::format("{} of {}, which was never allocated", call_word, name));
  }
  if (!named->is_live()) {
    fail(fmt::format("{} of {}, which is not live (allocated at line {}, freed at line {})",
                     call_word,
                     name,
                     named->allocated_line,
                     named->freed_line));
  }
  return *named;
}

Bytes ScriptReader::size(std::string_view word) const {
  // Nearly all sizes are plain bytes, and a position for messages costs more than reading them.
  std::int64_t bytes = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), bytes);
  if (error == std::errc{} && end == word.data() + word.size() && bytes >= 0 &&
      Bytes{bytes} <= largest_size) {
    return Bytes{bytes};
  }
  return parse_size(word, here());
}

StreamId ScriptReader::stream(std::string_view word) const {
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size()) {
    fail(fmt::format("'{}' is no stream: streams are numbered 0 to 65535", word));
  }
  return StreamId{number};
}

PoolId ScriptReader::pool(std::string_view word) const {
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size() || number == 0) {
    fail(fmt::format("'{}' is no private pool: they are numbered 1 to 65535", word));
  }
  return PoolId{std::uint32_t{number}};
}

double ScriptReader::fraction(std::string_view word) const {
  double value = -1.0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || !(value >= 0.0 && value <= 1.0)) {
    fail(fmt::format("'{}' is no fraction: write a number from 0 to 1, such as 0.9", word));
  }
  return value;
}

StackId ScriptReader::site(std::string_view word) {
  if (word.front() != '@') {
    fail(fmt::format("'{}' follows a whole malloc: a call site begins with @", word));
  }
  const std::string text{word.substr(1)};
  const auto [entry, is_new] = sites_.try_emplace(text);
  if (is_new) {
    const auto stack = parse_call_site(text, trace_.stacks);
    if (!stack) {
      fail(
          fmt::format("'{}' is no call site: write FILE:LINE:FUNCTION, several joined by ;", text));
    }
    entry->second = *stack;
  }
  return entry->second;
}

}  // namespace fragcast
