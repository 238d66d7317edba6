#include "replay/transforms/without.hpp"

#include <string>
#include <vector>

#include "replay/engine/replay.hpp"
#include "replay/transforms/changes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/stepped.hpp"

namespace fragcast {
namespace {

using Lines = std::vector<std::string>;

const InputPosition at_option{.file = "--without", .line = {}, .byte = {}};

Trace without(const Trace& trace, std::string_view text) {
  return without_site(trace, parse_without(text, at_option), at_option);
}

/// Each step keeps something of train.py:12; the third frees what the second kept.
Trace example() {
  return stepped(
      "malloc w 1KiB 0 @train.py:1:build\n"
      "step\n"
      "malloc a 2KiB 0 @train.py:12:train one\n"
      "malloc b 3KiB 0 @/x/train.py:11:train one\n"
      "record_stream a 1\n"
      "free b\n"
      "step\n"
      "malloc c 2KiB 0 @train.py:12:train one\n"
      "malloc d 4KiB 0\n"
      "erase_stream c 1 0\n"
      "step\n"
      "record_stream c 1\n"
      "free c\n"
      "free d\n");
}

struct Request {
  EventKind kind = EventKind::allocate;
  Bytes size;
  bool operator==(const Request&) const = default;
};

/// Kinds and sizes of a trace's requests, without the first `skipped`.
std::vector<Request> requests_of(const Trace& trace, std::size_t skipped = 0) {
  std::vector<Bytes> sizes(trace.allocations.size());
  for (const SegmentPicture& segment : trace.initial.heap.segments) {
    for (const BlockPicture& block : segment.blocks) {
      if (block.allocation) sizes[block.allocation->index()] = block.requested;
    }
  }
  std::vector<Request> requests;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    if (event.kind == EventKind::allocate) sizes[event.allocation.index()] = event.size;
    if (event.kind != EventKind::allocate && event.kind != EventKind::deallocate) continue;
    if (skipped > 0) {
      --skipped;
    } else {
      requests.push_back({.kind = event.kind, .size = sizes[event.allocation.index()]});
    }
  }
  return requests;
}

struct LeakyRecording {
  std::string name;
  std::string leak;
};

const std::vector<LeakyRecording> leaky_recordings{
    {.name = "npu_leak_expandable", .leak = "memory_leaks_demo.py:12 train_one_step"},
    {.name = "npu_leak_empty_cache", .leak = "memory_leaks_demo.py:11 train_one_step"},
};

/// Without that site, under default settings, with the recorded `empty_cache` calls dropped.
Run repaired(const Trace& trace, const std::string& site) {
  const TraceChanges changes{.without = {parse_without(site, at_option)},
                             .dropped_steps = {},
                             .empty_cache = DropEmptyCache{}};
  const RunSpec spec = npu_spec("base_addr_aligned_kb:16");
  return replay(*change(trace, changes, spec).trace, spec);
}

}  // namespace

TEST_CASE("a site reads back as it was written", "[without]") {
  for (const char* text : {"train.py:12", "train.py:12 forward", "train.py:12:step-end"}) {
    CHECK(to_text(parse_without(text, at_option)) == text);
  }
  CHECK(parse_without("train.py:12", at_option).instead == WithoutSite::Instead::never);
  const WithoutSite at_end = parse_without("train.py:12:step-end", at_option);
  CHECK(at_end.instead == WithoutSite::Instead::at_step_end);
  CHECK(at_end.site == "train.py:12");
}

TEST_CASE("a site that is none is refused", "[without]") {
  for (const char* text : {"", ":step-end"}) {
    CHECK(refusal_of([&] { static_cast<void>(parse_without(text, at_option)); }) ==
          "--without: a call site must follow, such as train.py:12");
  }
}

TEST_CASE("without a site all calls about its allocations go", "[without]") {
  CHECK(lines_of(without(example(), "train.py:12")) ==
        Lines{"malloc 0 1024 0 @train.py:1:build",
              "step",
              "malloc 2 3072 0 @/x/train.py:11:train one",
              "free 2",
              "step",
              "malloc 4 4096 0",
              "step",
              "free 4"});
}

TEST_CASE("the steps stay with their events when a site goes", "[without]") {
  const Trace result = without(example(), "train.py:12");
  CHECK(result.steps.begins == std::vector<std::size_t>{1, 4, 6});
}

TEST_CASE("a site is a part of what reports call it", "[without]") {
  const std::size_t events = without(example(), "train.py:12").events.size();
  CHECK(without(example(), "train.py:12 train one").events.size() == events);
  CHECK(without(example(), "train.py:12:train one").events.size() == events);
  CHECK(without(example(), "12:train").events.size() == events);
  // Both lines of the function: seven calls about a and c, two about b.
  CHECK(without(example(), "train one").events.size() == events - 2);
}

TEST_CASE("the name of a site's file may hold blanks", "[without]") {
  const Trace trace = stepped("malloc a 1KiB 0 @my train.py:1:f\nmalloc b 1KiB 0\n");
  for (const char* text : {"my train.py:1", "my train.py:1:f", "my train.py:1 f"}) {
    INFO(text);
    CHECK(without(trace, text).events.size() == 1);
  }
}

TEST_CASE("a line number is not the front of a longer one", "[without]") {
  const Lines lines = lines_of(without(example(), "train.py:1"));
  CHECK(lines.size() == lines_of(example()).size() - 1);
  CHECK(lines.front() == "step");
}

TEST_CASE("a site that no allocation has is refused", "[without]") {
  CHECK(refusal_of([&] { static_cast<void>(without(example(), "train.py:13")); }) ==
        "--without: no allocation of the trace has the call site 'train.py:13' (`fragcast compare` "
        "names those that pin most)");
  CHECK(refusal_of([&] {
          static_cast<void>(without(Trace{}, "train.py:13"));
        }).starts_with("--without: no allocation of the trace"));
}

TEST_CASE("what a site left behind is freed when its step ends", "[without]") {
  CHECK(lines_of(without(example(), "train.py:12:step-end")) ==
        Lines{"malloc 0 1024 0 @train.py:1:build",
              "step",
              "malloc 1 2048 0 @train.py:12:train one",
              "malloc 2 3072 0 @/x/train.py:11:train one",
              "record_stream 1 1",
              "free 2",
              "free 1",
              "step",
              "malloc 3 2048 0 @train.py:12:train one",
              "malloc 4 4096 0",
              "erase_stream 3 1 0",
              "free 3",
              "step",
              "free 4"});
}

TEST_CASE("what was freed within its step is not freed again at its end", "[without]") {
  CHECK(
      lines_of(without(stepped("step\n"
                               "malloc a 1KiB 0 @t.py:1:f\n"
                               "free a\n"
                               "malloc b 2KiB 0 @t.py:1:f\n"),
                       "t.py:1:step-end")) ==
      Lines{"step", "malloc 0 1024 0 @t.py:1:f", "free 0", "malloc 1 2048 0 @t.py:1:f", "free 1"});
}

TEST_CASE("a request that failed over and over is freed once at each step's end", "[without]") {
  Trace trace = stepped("step\nmalloc a 1KiB 0 @t.py:1:f\nstep\nmalloc b 1KiB 0\n");
  for (const std::size_t at : {1U, 3U}) trace.events[at].failed_in_recording = true;
  trace.events[3].allocation = trace.events[1].allocation;
  trace.events.push_back(trace.events[3]);
  const Trace result = without(trace, "t.py:1:step-end");
  std::vector<EventKind> kinds;
  for (std::size_t i = 0; i < result.events.size(); ++i) kinds.push_back(result.events[i].kind);
  CHECK(kinds == std::vector<EventKind>{EventKind::step,
                                        EventKind::allocate,
                                        EventKind::deallocate,
                                        EventKind::step,
                                        EventKind::allocate,
                                        EventKind::allocate,
                                        EventKind::deallocate});
  CHECK(replay(result, npu_spec()).outcome == RunOutcome::completed);
}

TEST_CASE("freeing at a step's end needs steps", "[without]") {
  const Trace trace = stepped("malloc a 1KiB 0 @t.py:1:f\n");
  CHECK(refusal_of([&] { static_cast<void>(without(trace, "t.py:1:step-end")); }) ==
        "--without: no steps were found in the trace (--step-at, --steps and --step-marker say "
        "where they are)");
}

TEST_CASE("a step that is left out keeps what outlives it and frees what was before it",
          "[without]") {
  const Trace trace = stepped(
      "step\n"
      "malloc a 1KiB 0\n"
      "step\n"
      "malloc b 2KiB 0\n"
      "record_stream b 1\n"
      "free a\n"
      "malloc c 3KiB 0\n"
      "free b\n"
      "step\n"
      "malloc d 4KiB 0\n"
      "free d\n"
      "free c\n");
  const Trace second = without_step(trace, 2, {});
  CHECK(lines_of(second) == Lines{"step",
                                  "malloc 0 1024 0",
                                  "step",
                                  "free 0",
                                  "malloc 2 3072 0",
                                  "step",
                                  "malloc 3 4096 0",
                                  "free 3",
                                  "free 2"});
  CHECK(second.steps.begins == std::vector<std::size_t>{0, 2, 5});
  CHECK(lines_of(without_step(trace, 3, {})).size() == trace.events.size() - 2);
}

TEST_CASE("a step that is left out asks for nothing in vain", "[without]") {
  Trace trace = stepped("step\nmalloc a 1KiB 0\nstep\nmalloc b 9KiB 0\n");
  trace.events[3].failed_in_recording = true;
  CHECK(lines_of(without_step(trace, 2, {})) == Lines{"step", "malloc 0 1024 0", "step"});
}

TEST_CASE("a step that the trace does not have cannot be left out", "[without]") {
  const InputPosition where{.file = "--drop-step", .line = {}, .byte = {}};
  CHECK(refusal_of([&] { static_cast<void>(without_step(example(), 4, where)); }) ==
        "--drop-step: step:4: the trace has steps 1 to 3");
  CHECK(refusal_of([&] { static_cast<void>(without_step(Trace{}, 1, where)); }) ==
        "--drop-step: step:1: no steps were found in the trace (--step-at, --steps and "
        "--step-marker say where they are)");
}

TEST_CASE("without its leak a program makes the requests of the fixed program",
          "[without][recordings]") {
  const auto fixed = recorded_trace("npu_training");
  if (!fixed) return;
  constexpr std::size_t weights = 320;
  constexpr std::size_t shared = 5470;
  std::vector<Request> expected = requests_of(*fixed, weights);
  REQUIRE(expected.size() >= shared);
  expected.resize(shared);
  for (const LeakyRecording& leaky : leaky_recordings) {
    const auto trace = recorded_trace(leaky.name);
    if (!trace) return;
    INFO(leaky.name);
    CHECK(requests_of(*trace).size() == shared + 3);
    CHECK(requests_of(without(*trace, leaky.leak)) == expected);
  }
}

TEST_CASE("without its leak a program reserves what the fixed program was recorded to",
          "[without][recordings]") {
  for (const LeakyRecording& leaky : leaky_recordings) {
    const auto trace = recorded_trace(leaky.name);
    if (!trace) return;
    INFO(leaky.name);
    const Run run = repaired(*trace, leaky.leak);
    CHECK(run.peak.reserved == Bytes{551'550'976});
    CHECK(run.final.reserved == Bytes{551'550'976});
    CHECK(run.counts.device_allocs == 43);
  }
}

TEST_CASE("a leak that is freed at each step's end costs one copy of it", "[without][recordings]") {
  for (const LeakyRecording& leaky : leaky_recordings) {
    const auto trace = recorded_trace(leaky.name);
    if (!trace) return;
    INFO(leaky.name);
    CHECK(repaired(*trace, leaky.leak + ":step-end").peak.reserved == Bytes{595'591'168});
  }
}

}  // namespace fragcast
