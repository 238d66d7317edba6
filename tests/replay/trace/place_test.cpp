#include "replay/trace/place.hpp"

#include <sstream>
#include <string>

#include "replay/formats/call_script.hpp"
#include "tests/support/catch.hpp"

namespace fragcast {
namespace {

const InputPosition at_option{.file = "--at", .line = {}, .byte = {}};

/// Events 0 to 7; calls 0 to 5.
Trace example() {
  std::istringstream script{
      "malloc a 1MiB 0\n"  // event 0
      "mark forward\n"
      "malloc b 1MiB 0\n"
      "empty_cache\n"
      "free a\n"
      "mark forward\n"
      "mark back ward\n"
      "free b\n"
      "snapshot\n"};
  return read_call_script(script, "example");
}

std::optional<std::size_t> events_at(const Trace& trace, std::string_view place) {
  return resolve(trace, parse_place(place, at_option), at_option);
}

std::string refusal(std::string_view place) {
  const Trace trace = example();
  try {
    static_cast<void>(events_at(trace, place));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a place reads back as it was written", "[place]") {
  for (const char* text : {"event:0",
                           "event:123",
                           "request:1",
                           "mark:a b:c",
                           "step:1",
                           "step:12.end",
                           "peak",
                           "end"}) {
    CHECK(to_text(parse_place(text, at_option)) == text);
  }
}

TEST_CASE("a place stands after the event that it names", "[place]") {
  const Trace trace = example();
  CHECK(events_at(trace, "event:0") == 1U);
  CHECK(events_at(trace, "event:1") == 3U);
  CHECK(events_at(trace, "event:5") == 9U);
  CHECK(events_at(trace, "request:1") == 1U);
  CHECK(events_at(trace, "request:2") == 3U);
  CHECK(events_at(trace, "request:3") == 5U);
  CHECK(events_at(trace, "request:4") == 8U);
  CHECK(events_at(trace, "end") == 9U);
}

TEST_CASE("a mark's place is its first occurrence", "[place]") {
  const Trace trace = example();
  CHECK(events_at(trace, "mark:forward") == 2U);
  CHECK(events_at(trace, "mark:back ward") == 7U);
}

TEST_CASE("a step's places stand before its first event and behind its last", "[place]") {
  Trace trace = example();
  trace.steps.begins = {2, 5};
  CHECK(events_at(trace, "step:1") == 2U);
  CHECK(events_at(trace, "step:1.end") == 5U);
  CHECK(events_at(trace, "step:2") == 5U);
  CHECK(events_at(trace, "step:2.end") == 9U);
  CHECK_THROWS_WITH(events_at(trace, "step:3"), "--at: step:3: the trace has steps 1 to 2");
}

TEST_CASE("only a run knows where its peak is", "[place]") {
  CHECK(events_at(example(), "peak") == std::nullopt);
}

TEST_CASE("a place that the trace does not have is refused with what it has", "[place]") {
  CHECK(refusal("event:6") == "--at: event:6: the trace has events 0 to 5");
  CHECK(refusal("request:5") == "--at: request:5: the trace has 4 requests");
  CHECK(refusal("mark:x") == "--at: mark:x: the trace has the marks forward, back ward");
}

TEST_CASE("a trace without events or marks says so", "[place]") {
  const Trace empty;
  CHECK_THROWS_WITH(events_at(empty, "event:0"), "--at: event:0: the trace has no events");
  CHECK_THROWS_WITH(events_at(empty, "mark:x"), "--at: mark:x: the trace has no marks");
  CHECK(events_at(empty, "end") == 0U);
}

TEST_CASE("what is no place is refused with the grammar", "[place]") {
  CHECK(refusal("request:0") == "--at: request:0: requests count from 1");
  CHECK(refusal("event:") == "--at: event:: a number must follow, as in event:100");
  CHECK(refusal("request:-1") == "--at: request:-1: a number must follow, as in request:100");
  CHECK(refusal("event:1x") == "--at: event:1x: a number must follow, as in event:100");
  CHECK(refusal("step:0.end") == "--at: step:0.end: steps count from 1");
  CHECK(refusal("step:1.begin") == "--at: step:1.begin: a number must follow, as in step:100");
  CHECK(refusal("step:.end") == "--at: step:: a number must follow, as in step:100");
  CHECK(refusal("step:1") ==
        "--at: step:1: no steps were found in the trace (--step-at, --steps and --step-marker say "
        "where they are)");
  CHECK(refusal("mark:") == "--at: mark: the text of a mark must follow");
  CHECK(
      refusal("noon") ==
      "--at: 'noon' is not a place: write event:N, request:N, mark:TEXT, step:K, step:K.end, peak "
      "or end");
}

TEST_CASE("several places are joined by commas", "[place]") {
  const std::vector<Place> places = parse_places("request:1,mark:forward,end", at_option);
  REQUIRE(places.size() == 3);
  CHECK(places[0] == Place{place::AtRequest{1}});
  CHECK(places[1] == Place{place::AtMark{"forward"}});
  CHECK(places[2] == Place{place::AtEnd{}});
  CHECK_THROWS_AS(parse_places("request:1,", at_option), InputError);
}

}  // namespace fragcast
