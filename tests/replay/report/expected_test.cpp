#include "replay/report/expected.hpp"

#include <string>

#include "replay/formats/input_error.hpp"
#include "replay/report/answer_difference.hpp"
#include "replay/report/answers.hpp"
#include "sim/core/check.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/toy_model.hpp"
#include "tests/support/trace_builder.hpp"

namespace fragcast {
namespace {

using Lines = std::vector<std::string>;

RunConditions conditions_of(const Trace& trace) {
  RunSpec spec;
  spec.model = &toy_model();
  return resolve_conditions(trace, spec);
}

/// Two blocks, a snapshot, and a free.
TraceBuilder small_trace() {
  TraceBuilder builder;
  const AllocationId a = builder.allocate(3_MiB);
  builder.allocate(2_MiB);
  builder.add(EventKind::snapshot);
  builder.deallocate(a);
  return builder;
}

Lines answers_to(const Trace& trace) {
  Session session{trace, conditions_of(trace)};
  Answers answers{session};
  Lines lines{std::string{answers.conditions()}};
  while (!session.at_end()) {
    const Event& event = session.next();
    lines.emplace_back(answers.call(event, session.step()));
  }
  lines.emplace_back(answers.end());
  return lines;
}

AnswerComparison compare(const Trace& trace, const Lines& lines) {
  std::size_t at = 0;
  const LineSource next = [&]() -> std::optional<std::string_view> {
    if (at == lines.size()) return std::nullopt;
    return lines[at++];
  };
  return compare_answers(trace, conditions_of(trace), next, "answers.jsonl", {.events = 1});
}

/// The line with `from` replaced by `to`, which must be in it.
std::string with(std::string line, const std::string& from, const std::string& to) {
  const std::size_t at = line.find(from);
  REQUIRE(at != std::string::npos);
  return line.replace(at, from.size(), to);
}

TEST_CASE("the same answers have no difference", "[expected]") {
  TraceBuilder builder = small_trace();
  const AnswerComparison comparison = compare(builder.trace(), answers_to(builder.trace()));
  CHECK_FALSE(comparison.difference.has_value());
  CHECK(comparison.lines == 6);
}

TEST_CASE("the first differing answer is told with both values and the heap before the call",
          "[expected]") {
  TraceBuilder builder = small_trace();
  Lines lines = answers_to(builder.trace());
  lines[2] = with(lines[2], "\"addr\":17592190238720", "\"addr\":17592186044416");
  lines[4] = with(lines[4], "\"reserved\":[2097152,", "\"reserved\":[5,");

  const AnswerComparison comparison = compare(builder.trace(), lines);
  REQUIRE(comparison.difference.has_value());
  CHECK(comparison.difference->op == 1);
  CHECK(describe(*comparison.difference) ==
        "the first difference is at op 1: malloc 1 2097152 0  (allocations are numbered by birth, "
        "from 0)\n"
        "  addr\n"
        "    expected  17592186044416\n"
        "    replayed  17592190238720\n"
        "  the heap before it, around the addresses concerned\n"
        "  > 0x100000000000 large stream 0 kept:  >[A0 4M/3M]< \n"
        "    0x100000000000 large stream 0 kept: [A0 4M/3M]\n"
        "  > 0x100000400000: in no segment\n");
}

TEST_CASE("a differing counter of a free shows the heap around the freed block", "[expected]") {
  TraceBuilder builder = small_trace();
  Lines lines = answers_to(builder.trace());
  lines[4] = with(lines[4], "\"reserved\":[2097152,", "\"reserved\":[5,");
  const AnswerComparison comparison = compare(builder.trace(), lines);
  REQUIRE(comparison.difference.has_value());
  CHECK(comparison.difference->call == "free 0");
  REQUIRE(comparison.difference->values.size() == 1);
  CHECK(comparison.difference->values[0].path == "reserved");
  CHECK(comparison.difference->values[0].expected == "[5,6291456]");
  CHECK(comparison.difference->values[0].actual == "[2097152,6291456]");
  CHECK(comparison.difference->heap ==
        "  > 0x100000000000 large stream 0 kept:  >[A0 4M/3M]< \n"
        "    0x100000400000 large stream 0 kept: [A1 2M]\n");
}

TEST_CASE("a recording may answer only some of the calls", "[expected]") {
  TraceBuilder builder = small_trace();
  Lines lines = answers_to(builder.trace());
  lines.erase(lines.begin() + 3);
  lines.erase(lines.begin() + 1);
  const AnswerComparison comparison = compare(builder.trace(), lines);
  CHECK_FALSE(comparison.difference.has_value());
  CHECK(comparison.lines == 4);
}

TEST_CASE("differing conditions are a difference before the first call", "[expected]") {
  TraceBuilder builder = small_trace();
  Lines lines = answers_to(builder.trace());
  lines[0] = with(lines[0], "\"fraction\":1", "\"fraction\":0.5");
  const AnswerComparison comparison = compare(builder.trace(), lines);
  REQUIRE(comparison.difference.has_value());
  CHECK(comparison.difference->op == -1);
  CHECK(comparison.difference->values[0].path == "fraction");
}

TEST_CASE("answers that no call asks for are a difference", "[expected]") {
  TraceBuilder builder = small_trace();
  Lines lines = answers_to(builder.trace());
  lines.emplace_back(R"({"op":17,"kind":"free"})");
  const AnswerComparison beyond = compare(builder.trace(), lines);
  REQUIRE(beyond.difference.has_value());
  CHECK(beyond.difference->op == 17);
  CHECK(beyond.difference->actual.empty());

  std::swap(lines[1], lines[2]);
  CHECK(compare(builder.trace(), lines).difference.has_value());
}

TEST_CASE("a line that is no answer is an input error with its number", "[expected]") {
  TraceBuilder builder = small_trace();
  Lines lines = answers_to(builder.trace());
  lines[2] = "hello";
  CHECK_THROWS_WITH(
      compare(builder.trace(), lines),
      "answers.jsonl:3: an answer begins with {\"op\":NUMBER, which this line does not");
}

TEST_CASE("a line that is only the beginning of an answer is told as it is", "[expected]") {
  TraceBuilder builder = small_trace();
  Lines lines = answers_to(builder.trace());
  lines[1].resize(40);
  const AnswerComparison comparison = compare(builder.trace(), lines);
  REQUIRE(comparison.difference.has_value());
  CHECK(comparison.difference->values.empty());
  CHECK(describe(*comparison.difference).find("expected  {\"op\":0,") != std::string::npos);
}

TEST_CASE("a history that is told by its length and hashes is compared by its length",
          "[expected]") {
  TraceBuilder builder = small_trace();
  Lines lines = answers_to(builder.trace());
  std::string& end = lines.back();
  end.resize(end.find(",\"trace_from\""));
  end += R"(,"trace_len":8,"trace_fnv1a":"0123","results_fnv1a":"4567"})";
  CHECK_FALSE(compare(builder.trace(), lines).difference.has_value());
  end = with(end, "\"trace_len\":8", "\"trace_len\":9");
  CHECK(compare(builder.trace(), lines).difference.has_value());
}

TEST_CASE("refused settings are compared by the conditions alone", "[expected]") {
  TraceBuilder builder = small_trace();
  builder.trace().conditions.settings = "refused";
  const Lines lines{
      R"({"op":-1,"ok":false,"error":"a toy refuses these settings","conf":"refused",)"
      R"("device_memory":68719476736,"fraction":1,"events":"instant","soc":220})"};
  CHECK_FALSE(compare(builder.trace(), lines).difference.has_value());
}

std::string history(const std::string& entries) { return R"({"op":1,"trace":[)" + entries + "]}"; }

/// The entries that a replay told when it gave back memory at 1 and 3 of pool 1, and at 5 of
/// pool 2.
EventLog releases() {
  const auto release = [](LogAction action, std::uint64_t address, std::uint32_t pool) {
    return LogEntry{.action = action,
                    .address = Address{address},
                    .size = 2_B,
                    .stream = StreamId{},
                    .pool = PoolId{pool}};
  };
  return {release(LogAction::segment_free, 1, 1),
          release(LogAction::segment_free, 3, 1),
          release(LogAction::segment_unmap, 5, 2),
          release(LogAction::segment_free, 7, 0)};
}

TEST_CASE("the order of what several private pools give back is not compared", "[expected]") {
  const std::string ab =
      R"(["alloc",9,1,0,0],["segment_free",1,2,0,1],["segment_free",3,2,0,1],["segment_unmap",5,2,0,2])";
  const std::string ba =
      R"(["alloc",9,1,0,0],["segment_unmap",5,2,0,2],["segment_free",1,2,0,1],["segment_free",3,2,0,1])";
  CHECK(differing_values(history(ab), history(ba), releases())->empty());
}

TEST_CASE("nor where the history does not name the pools", "[expected]") {
  const std::string ab = R"(["segment_free",1,2,0,0],["segment_unmap",5,2,0,0])";
  const std::string ba = R"(["segment_unmap",5,2,0,0],["segment_free",1,2,0,0])";
  CHECK(differing_values(history(ab), history(ba), releases())->empty());
}

TEST_CASE("the order within a pool and of the default pools is compared", "[expected]") {
  const std::string within = R"(["segment_free",3,2,0,1],["segment_free",1,2,0,1])";
  const std::string swapped = R"(["segment_free",1,2,0,1],["segment_free",3,2,0,1])";
  CHECK_FALSE(differing_values(history(within), history(swapped), releases())->empty());

  const std::string defaults = R"(["segment_free",7,2,0,0],["segment_free",1,2,0,1])";
  const std::string later = R"(["segment_free",1,2,0,1],["segment_free",7,2,0,0])";
  CHECK_FALSE(differing_values(history(defaults), history(later), releases())->empty());
}

TEST_CASE("values that only one side has are told as absent on the other", "[expected]") {
  const auto values =
      differing_values(R"({"a":1,"b":{"c":[[1],[2]]}})", R"({"b":{"c":[[1]],"d":0}})", {});
  REQUIRE(values.has_value());
  REQUIRE(values->size() == 3);
  CHECK((*values)[0].path == "a");
  CHECK((*values)[0].actual.empty());
  CHECK((*values)[1].path == "b.c[1]");
  CHECK((*values)[1].expected == "[2]");
  CHECK((*values)[2].path == "b.d");
  CHECK((*values)[2].expected.empty());
}

TEST_CASE("only the first few values are told, each cut to a length that can be read",
          "[expected]") {
  std::string expected = R"({"long":")" + std::string(1000, 'x') + "\"";
  std::string actual = R"({"long":"")";
  for (int i = 0; i < 100; ++i) {
    expected += ",\"k" + std::to_string(i) + "\":1";
    actual += ",\"k" + std::to_string(i) + "\":2";
  }
  const auto values = differing_values(expected + "}", actual + "}", {});
  REQUIRE(values.has_value());
  CHECK(values->size() == 8);
  CHECK((*values)[0].expected.size() < 300);
}

}  // namespace
}  // namespace fragcast
