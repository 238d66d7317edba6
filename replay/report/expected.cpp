#include "replay/report/expected.hpp"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "replay/formats/byte_source.hpp"
#include "replay/formats/input_error.hpp"
#include "replay/formats/long_lines.hpp"
#include "replay/report/answer_difference.hpp"
#include "replay/report/answers.hpp"
#include "sim/observe/draw.hpp"

namespace fragcast {
namespace {

/// Of a line `{"op":17,…`.
std::optional<std::int64_t> op_of(std::string_view line) {
  constexpr std::string_view before = R"({"op":)";
  std::int64_t op = 0;
  if (!line.starts_with(before)) return std::nullopt;
  line.remove_prefix(before.size());
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), op);
  return error == std::errc{} ? std::optional{op} : std::nullopt;
}

/// The recorded answers, one at hand.
class RecordedAnswers {
 public:
  RecordedAnswers(const LineSource& next, const std::string& file) : next_{next}, file_{file} {
    advance();
  }

  [[nodiscard]] bool at_end() const { return !line_; }
  [[nodiscard]] std::string_view line() const { return line_.value_or(""); }
  /// Of the line at hand; nothing at the end.
  [[nodiscard]] std::optional<std::int64_t> op() const { return op_; }

  void advance() {
    line_ = next_();
    ++number_;
    op_ = std::nullopt;
    if (!line_) return;
    op_ = op_of(*line_);
    if (!op_) {
      throw InputError{{.file = file_, .line = number_, .byte = {}},
                       "an answer begins with {\"op\":NUMBER, which this line does not"};
    }
  }

 private:
  const LineSource& next_;
  const std::string& file_;
  std::optional<std::string_view> line_;
  std::optional<std::int64_t> op_;
  std::uint64_t number_ = 0;
};

/// Of a very long history a recording's last line gives the length and, behind it, hashes whose
/// making is not known.
constexpr std::string_view history_length = R"(,"trace_len":)";
constexpr std::string_view history_hashes = R"(,"trace_fnv1a":)";

bool same_answer(std::string_view expected, std::string_view actual, const EventLog& told) {
  if (expected == actual) return true;
  if (const auto hashes = expected.find(history_hashes); hashes != std::string_view::npos) {
    return fmt::format("{}}}", expected.substr(0, hashes)) == actual;
  }
  const auto values = differing_values(expected, actual, told);
  return values && values->empty();
}

/// Where the allocation of `event` is; nothing if it is not in the heap.
std::optional<Address> address_of(const Layout& heap, const Event& event) {
  for (const SegmentPicture& segment : heap.segments) {
    for (const BlockPicture& block : segment.blocks) {
      if (block.allocation == event.allocation) return block.address;
    }
  }
  return std::nullopt;
}

/// A replay held against recorded answers.
class Comparison {
 public:
  Comparison(const Trace& trace, const RunConditions& conditions, RecordedAnswers& recorded)
      : recorded_{recorded}, session_{trace, conditions}, answers_{session_} {}

  AnswerComparison run(CheckInterval checks) {
    compare(checks);
    return std::move(result_);
  }

 private:
  void compare(CheckInterval checks) {
    if (recorded_.op() == -1 && !meets(answers_.conditions(), nullptr)) return;
    if (session_.refusal().empty()) {
      while (!session_.at_end()) {
        if (!compare_next(checks)) return;
      }
      if (recorded_.op() == answers_.next_op() && !meets(end(), nullptr)) return;
    }
    // A line that no call was to answer.
    if (!recorded_.at_end()) fail("", nullptr);
  }

  bool compare_next(CheckInterval checks) {
    const Event& event = session_.next();
    const EventResult result = session_.step();
    if (checks.events != 0 && session_.position() % checks.events == 0) session_.model().check();
    if (!Answers::is_call(event)) return true;
    if (recorded_.op() == answers_.next_op()) return meets(answers_.call(event, result), &event);
    answers_.pass_over(event);
    return true;
  }

  [[nodiscard]] std::string_view end() {
    const bool in_short = recorded_.line().find(history_length) != std::string_view::npos;
    return answers_.end(in_short ? Answers::History::length : Answers::History::entries);
  }

  /// Compares with the recorded line at hand, and goes on to the next if it is the same. The event
  /// is null where the line is not about a call.
  bool meets(std::string_view actual, const Event* event) {
    ++result_.lines;
    if (!same_answer(recorded_.line(), actual, answers_.told())) {
      fail(actual, event);
      return false;
    }
    recorded_.advance();
    return true;
  }

  void fail(std::string_view actual, const Event* event) {
    const std::string_view expected = recorded_.line();
    result_.difference = {
        .op = recorded_.op().value_or(-1),
        .call = event != nullptr ? call_line(session_.trace(), *event) : "",
        .values = differing_values(expected, actual, answers_.told())
                      .value_or(std::vector<AnswerDifference::Value>{}),
        .expected = std::string{expected},
        .actual = std::string{actual},
        .heap = draw_heap(addresses_concerned(expected, actual, answers_.told()), event)};
  }

  /// The heap before the event, around the addresses concerned: it takes another replay.
  [[nodiscard]] std::string draw_heap(std::vector<Address> addresses, const Event* event) const {
    if (!session_.refusal().empty()) return {};
    Session again{session_.trace(), session_.conditions()};
    again.run_to(session_.position() - (event != nullptr ? 1 : 0));
    const Layout heap = again.model().layout();
    if (addresses.empty() && event != nullptr) {
      if (const auto address = address_of(heap, *event)) addresses.push_back(*address);
    }
    std::string text;
    for (const Address address : addresses) text += draw_around(heap, address);
    return text;
  }

  RecordedAnswers& recorded_;
  Session session_;
  Answers answers_;
  AnswerComparison result_;
};

void describe_value(std::string& text, const AnswerDifference::Value& value) {
  const auto shown = [](const std::string& side) { return side.empty() ? "nothing" : side; };
  text += fmt::format("  {}\n    expected  {}\n    replayed  {}\n",
                      value.path,
                      shown(value.expected),
                      shown(value.actual));
}

}  // namespace

AnswerComparison compare_answers(const Trace& trace,
                                 const RunConditions& conditions,
                                 const LineSource& next_expected,
                                 const std::string& file,
                                 CheckInterval checks) {
  RecordedAnswers recorded{next_expected, file};
  return Comparison{trace, conditions, recorded}.run(checks);
}

AnswerComparison compare_answers(const Trace& trace,
                                 const RunConditions& conditions,
                                 const std::string& answers_file,
                                 CheckInterval checks) {
  LongLines lines{open_source(answers_file)};
  return compare_answers(
      trace, conditions, [&] { return lines.next(); }, answers_file, checks);
}

std::string describe(const AnswerDifference& difference) {
  std::string text = fmt::format("the first difference is at op {}", difference.op);
  if (!difference.call.empty()) {
    text += fmt::format(": {}  (allocations are numbered by birth, from 0)", difference.call);
  }
  text += "\n";
  for (const AnswerDifference::Value& value : difference.values) describe_value(text, value);
  if (difference.values.empty()) {
    describe_value(text,
                   {.path = "line", .expected = difference.expected, .actual = difference.actual});
  }
  if (!difference.heap.empty()) {
    text +=
        fmt::format("  the heap before it, around the addresses concerned\n{}", difference.heap);
  }
  return text;
}

}  // namespace fragcast
