#include "replay/transforms/emptying.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "replay/engine/replay.hpp"
#include "replay/transforms/changes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/stepped.hpp"

namespace fragcast {
namespace {

using Positions = std::vector<std::size_t>;

const InputPosition at_option{.file = "--empty-cache-at", .line = {}, .byte = {}};

Positions positions(const Trace& trace, std::string_view text) {
  return positions_of(trace, parse_emptyings(text, at_option), npu_spec(), at_option);
}

std::string refusal(const Trace& trace, std::string_view text) {
  return refusal_of([&] { static_cast<void>(positions(trace, text)); });
}

/// Requests are events 0, 2, 4, 6, 8 and 9; steps begin at 1, 5 and 7. The second needs most.
Trace example() {
  return stepped(
      "malloc w 10MiB 0\n"
      "step\n"
      "malloc a 20MiB 0\n"
      "mark epoch\n"
      "free a\n"
      "step\n"
      "malloc b 30MiB 0\n"
      "step\n"
      "free b\n"
      "malloc c 20MiB 0\n"
      "mark epoch\n");
}

Run replayed(const Trace& trace, std::string_view emptyings, const RunSpec& spec) {
  const TraceChanges changes{.without = {},
                             .dropped_steps = {},
                             .empty_cache = EmptyCacheAt{parse_emptyings(emptyings, at_option)}};
  return replay(*change(trace, changes, spec).trace, spec);
}

}  // namespace

TEST_CASE("times to empty the cache read back as they were written", "[emptying]") {
  for (const char* text : {"none",
                           "request:12",
                           "event:0",
                           "mark:epoch 1",
                           "step:3",
                           "step:3.end",
                           "end",
                           "every:100",
                           "step-end",
                           "step-end:every=4",
                           "before-step:longest",
                           "when:gap>1024MiB",
                           "when:utilisation<0.75",
                           "marker:epoch",
                           "request:1,step-end,when:utilisation<1"}) {
    CHECK(to_text(parse_emptyings(text, at_option)) == text);
  }
  CHECK(to_text(parse_emptyings("when:gap>1GiB", at_option)) == "when:gap>1024MiB");
  CHECK(to_text(parse_emptyings("when:gap>1025", at_option)) == "when:gap>1025");
  CHECK(to_text(parse_emptyings("step-end:every=1", at_option)) == "step-end");
}

TEST_CASE("only adaptive times depend on the run", "[emptying]") {
  const auto depends = [](std::string_view text) {
    return depend_on_run(parse_emptyings(text, at_option));
  };
  CHECK(depends("request:1,when:gap>1GiB"));
  CHECK(depends("when:utilisation<0.5"));
  CHECK_FALSE(depends("request:1,every:7,step-end,before-step:longest,marker:a,end"));
  CHECK_FALSE(depends("none"));
}

TEST_CASE("what says no time is refused with the grammar", "[emptying]") {
  const Trace trace = example();
  const std::string prefix = "--empty-cache-at: ";
  CHECK(refusal(trace, "noon") ==
        prefix +
            "'noon' says no time for empty_cache: write a place (request:N, event:N, mark:TEXT, "
            "step:K, step:K.end, end), every:N, step-end, step-end:every=K, before-step:longest, "
            "when:gap>SIZE, when:utilisation<R, marker:TEXT, or none");
  CHECK(refusal(trace, "step-end,").starts_with(prefix + "'' says no time"));
  CHECK(refusal(trace, "none,step-end").starts_with(prefix + "'none' says no time"));
  CHECK(refusal(trace, "peak").starts_with(prefix + "'peak' says no time"));
  CHECK(refusal(trace, "before-step:2").starts_with(prefix + "'before-step:2' says no time"));
  CHECK(refusal(trace, "every:0") == prefix + "every:0: a number from 1 must follow every:");
  CHECK(refusal(trace, "every:x") == prefix + "every:x: a number from 1 must follow every:");
  CHECK(refusal(trace, "step-end:every=0") ==
        prefix + "step-end:every=0: a number from 1 must follow step-end:every=");
  for (const std::string share : {"", "0", "1.5", "-1", "nan", "0.5x"}) {
    const std::string text = "when:utilisation<" + share;
    INFO(text);
    CHECK(refusal(trace, text) ==
          fmt::format("{}{}: a share above 0 and up to 1 must follow", prefix, text));
  }
  CHECK(refusal(trace, "when:gap>").starts_with(prefix));
  CHECK(refusal(trace, "when:gap>1GB").starts_with(prefix));
  CHECK(refusal(trace, "marker:") == prefix + "marker: the text of a mark must follow");
}

TEST_CASE("a time that the trace does not have is refused with what it has", "[emptying]") {
  const std::string prefix = "--empty-cache-at: ";
  const std::string no_steps =
      prefix +
      "no steps were found in the trace (--step-at, --steps and --step-marker say where they are)";
  CHECK(refusal(example(), "request:9") == prefix + "request:9: the trace has 6 requests");
  CHECK(refusal(example(), "step:4") == prefix + "step:4: the trace has steps 1 to 3");
  CHECK(refusal(example(), "marker:batch") == prefix + "marker:batch: the trace has no such mark");
  for (const char* text : {"step-end",
                           "step-end:every=2",
                           "before-step:longest",
                           "when:gap>1GiB",
                           "when:utilisation<0.5"}) {
    CHECK(refusal(stepped("malloc a 1MiB 0\n"), text) == no_steps);
  }
}

TEST_CASE("each time is a position in the trace", "[emptying]") {
  const Trace trace = example();
  CHECK(positions(trace, "none").empty());
  CHECK(positions(trace, "request:2") == Positions{3});
  CHECK(positions(trace, "event:0") == Positions{1});
  CHECK(positions(trace, "mark:epoch") == Positions{4});
  CHECK(positions(trace, "marker:epoch") == Positions{4, 11});
  CHECK(positions(trace, "step:2") == Positions{5});
  CHECK(positions(trace, "step:2.end") == Positions{7});
  CHECK(positions(trace, "end") == Positions{11});
  CHECK(positions(trace, "every:2") == Positions{3, 7, 10});
  CHECK(positions(trace, "every:100").empty());
  CHECK(positions(trace, "step-end") == Positions{5, 7, 11});
  CHECK(positions(trace, "step-end:every=2") == Positions{7});
  CHECK(positions(trace, "before-step:longest") == Positions{5});
}

TEST_CASE("a request that failed is needed where it was made, and nowhere else", "[emptying]") {
  Trace trace = stepped("step\nmalloc a 10MiB 0\nstep\nmalloc b 90MiB 0\nstep\nmalloc c 50MiB 0\n");
  trace.events[3].failed_in_recording = true;
  CHECK(positions(trace, "before-step:longest") == Positions{2});
  trace.events[3].size = 20_MiB;
  CHECK(positions(trace, "before-step:longest") == Positions{4});
}

TEST_CASE("times together are in order, each once", "[emptying]") {
  CHECK(positions(example(), "end,step:2,step-end,request:1") == Positions{1, 5, 7, 11});
}

TEST_CASE("a cache is emptied when the gap at a step's end is large", "[emptying]") {
  // Large requests of 10 MiB and more get whole multiples of 2 MiB: 102 MiB for 100 and padding.
  const Trace trace = stepped(
      "step\nmalloc a 100MiB 0\nfree a\n"
      "step\nmalloc b 100MiB 0\n"
      "step\nfree b\n");
  CHECK(positions(trace, "when:gap>101MiB") == Positions{3, 7});
  CHECK(positions(trace, "when:gap>102MiB").empty());
}

TEST_CASE("an adaptive time knows of the calls before it", "[emptying]") {
  const Trace trace = stepped(
      "step\nmalloc a 100MiB 0\nmalloc b 100MiB 0\nfree a\n"
      "step\nmalloc c 1KiB 0\n"
      "step\nmalloc d 1KiB 0\n");
  // 100 of 204 MiB are in use until the first call; 100 of 104 behind it.
  CHECK(positions(trace, "when:utilisation<0.6") == Positions{4});
  // A call within the first step leaves nothing to do.
  CHECK(positions(trace, "request:3,when:utilisation<0.6") == Positions{4});
  CHECK(positions(trace, "when:utilisation<0.4").empty());
}

TEST_CASE("calls made otherwise replace those that were recorded", "[emptying]") {
  const Trace trace = stepped("step\nmalloc a 30MiB 0\nfree a\nempty_cache\nmalloc b 30MiB 0\n");
  CHECK(replay(trace, npu_spec()).counts.device_allocs == 2);
  CHECK(replayed(trace, "none", npu_spec()).counts.device_allocs == 1);
  const Run at_end = replayed(trace, "end", npu_spec());
  CHECK(at_end.counts.device_allocs == 1);
  CHECK(at_end.counts.empty_caches == 1);
}

TEST_CASE("emptying after every step costs a hundred times the device calls on a steady loop",
          "[emptying]") {
  std::string script;
  for (int step = 0; step < 100; ++step) {
    script +=
        "step\nmalloc a 500MiB 0\nmalloc b 300MiB 0\nmalloc c 200MiB 0\nfree a\nfree b\nfree c\n";
  }
  const Trace trace = stepped(script);
  const Run steady = replayed(trace, "none", npu_spec());
  const Run emptied = replayed(trace, "step-end", npu_spec());
  CHECK(steady.counts.device_allocs == 3);
  CHECK(steady.counts.device_frees == 0);
  CHECK(emptied.counts.device_allocs == 300);
  CHECK(emptied.counts.device_frees == 300);
  CHECK(emptied.counts.empty_caches == 100);
  CHECK(emptied.peak.reserved == steady.peak.reserved);
}

TEST_CASE("calls in the recorded places give the recording to the byte", "[emptying][recordings]") {
  const auto trace = recorded_trace("npu_leak_empty_cache");
  if (!trace) return;
  for (const char* places : {"request:2039,request:3756,request:5473", "step-end"}) {
    INFO(places);
    const Run run = replayed(*trace, places, npu_spec());
    CHECK(run.peak.reserved == Bytes{662'700'032});
    CHECK(run.final.reserved == Bytes{509'607'936});
    CHECK(run.counts.device_allocs == 79);
    CHECK(run.counts.device_frees == 54);
  }
}

TEST_CASE("recorded calls that are dropped are made up for by nothing", "[emptying][recordings]") {
  const auto trace = recorded_trace("npu_leak_empty_cache");
  if (!trace) return;
  const Run run = replayed(*trace, "none", npu_spec());
  CHECK(run.counts.empty_caches == 0);
  CHECK(run.counts.device_frees == 0);
  CHECK(run.final.reserved == run.peak.reserved);
}

}  // namespace fragcast
