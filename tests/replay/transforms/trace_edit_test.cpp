#include "replay/transforms/trace_edit.hpp"

#include <string>
#include <vector>

#include "replay/transforms/empty_cache.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/stepped.hpp"

namespace fragcast {
namespace {

using Lines = std::vector<std::string>;

/// Steps begin at events 1 and 3, which are no step lines.
Trace example() {
  Trace trace = stepped(
      "malloc a 1KiB 0\n"
      "malloc b 2KiB 0\n"
      "free a\n"
      "malloc c 3KiB 0\n"
      "free b\n");
  trace.steps.source = StepSource::given;
  trace.steps.begins = {1, 3};
  return trace;
}

Trace with_calls(std::vector<std::size_t> positions) {
  return replace_empty_cache(example(), std::move(positions)).trace;
}

}  // namespace

TEST_CASE("an edit that keeps everything changes nothing but the addresses", "[trace_edit]") {
  Trace trace = example();
  trace.addresses.ranges.emplace_back();
  TraceEdit edit{trace};
  while (!edit.at_end()) edit.keep();
  const Trace& result = edit.result();
  CHECK(lines_of(result) == lines_of(trace));
  CHECK(result.steps.begins == trace.steps.begins);
  CHECK(result.steps.source == StepSource::given);
  CHECK(result.source_entries == 5);
  CHECK(result.addresses.ranges.empty());
}

TEST_CASE("a step begins with what follows its first event, if that goes", "[trace_edit]") {
  const Trace trace = example();
  TraceEdit edit{trace};
  edit.drop();
  edit.drop();
  edit.keep();
  edit.drop();
  edit.keep();
  CHECK(lines_of(edit.result()) == Lines{"(step)", "free 0", "(step)", "free 1"});
}

TEST_CASE("a step of which nothing stays is empty, and those behind it keep their numbers",
          "[trace_edit]") {
  const Trace trace = example();
  TraceEdit edit{trace};
  edit.keep();
  edit.drop();
  edit.drop();
  edit.keep();
  edit.drop();
  CHECK(edit.result().steps.begins == std::vector<std::size_t>{1, 1});
  CHECK(edit.result().events.size() == 2);
}

TEST_CASE("what is put where a step begins belongs to the step before", "[trace_edit]") {
  CHECK(lines_of(with_calls({1, 3})) == Lines{"malloc 0 1024 0",
                                              "empty_cache",
                                              "(step)",
                                              "malloc 1 2048 0",
                                              "free 0",
                                              "empty_cache",
                                              "(step)",
                                              "malloc 2 3072 0",
                                              "free 1"});
}

TEST_CASE("what is put in stands where the event before it stood in the file", "[trace_edit]") {
  const Trace result = with_calls({0, 2, 5});
  REQUIRE(result.events.size() == 8);
  CHECK(result.events[0].kind == EventKind::control);
  CHECK(result.events[0].source == 0);
  CHECK(result.events[3].kind == EventKind::control);
  CHECK(result.events[3].source == 1);
  CHECK(result.events[7].kind == EventKind::control);
  CHECK(result.events[7].source == 4);
}

}  // namespace fragcast
