#include "replay/steps/step_table.hpp"

#include <string>
#include <vector>

#include "replay/formats/input_error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/stepped.hpp"
#include "tests/support/toy_model.hpp"

namespace fragcast {
namespace {

StepTable measured(const Trace& trace) {
  RunSpec spec;
  spec.model = &toy_model();
  return measure_steps(trace, resolve_conditions(trace, spec));
}

/// Beside what is freed again, each step leaves l behind and hands k to the next; the first makes
/// o.
Trace growing_loop() {
  return stepped(
      "malloc w 3MiB 0 @t.py:1:main\n"
      "step\n"
      "malloc a1 1MiB 0 @t.py:10:f\n"
      "malloc l1 1MiB 0 @t.py:12:f\n"
      "malloc o 4MiB 0 @t.py:11:f\n"
      "free a1\n"
      "malloc k1 2MiB 0 @t.py:13:f\n"
      "step\n"
      "free k1\n"
      "malloc a2 1MiB 0 @t.py:10:f\n"
      "malloc l2 1MiB 0 @t.py:12:f\n"
      "free a2\n"
      "malloc k2 2MiB 0 @t.py:13:f\n"
      "step\n"
      "free k2\n"
      "malloc a3 1MiB 0 @t.py:10:f\n"
      "malloc l3 1MiB 0 @t.py:12:f\n"
      "free a3\n");
}

}  // namespace

TEST_CASE("what survives a step was made once, grows, or is carried over", "[steps]") {
  const StepTable table = measured(growing_loop());
  REQUIRE(table.steps.size() == 3);
  CHECK(table.before.survivors.once == 3_MiB);
  CHECK(table.before.survivors.growing == 0_B);
  CHECK(table.before.survivors.carried == 0_B);
  CHECK(table.steps[0].survivors.once == 4_MiB);
  CHECK(table.steps[0].survivors.growing == 1_MiB);
  CHECK(table.steps[0].survivors.carried == 2_MiB);
  CHECK(table.steps[1].survivors.once == 0_B);
  CHECK(table.steps[1].survivors.growing == 1_MiB);
  CHECK(table.steps[1].survivors.carried == 2_MiB);
  CHECK(table.steps[2].survivors.once == 0_B);
  CHECK(table.steps[2].survivors.growing == 1_MiB);
  CHECK(table.steps[2].survivors.carried == 0_B);
}

TEST_CASE("a kind of allocation that only the first two steps keep does not grow", "[steps]") {
  const StepTable table =
      measured(stepped("step\nmalloc a 1MiB 0 @t.py:1:f\nmalloc x 1KiB 0 @t.py:9:f\nfree x\n"
                       "step\nmalloc b 1MiB 0 @t.py:1:f\nmalloc y 1KiB 0 @t.py:9:f\nfree y\n"
                       "step\nmalloc c 1MiB 0 @t.py:2:f\nmalloc z 1KiB 0 @t.py:9:f\nfree z\n"));
  for (const StepRow& row : table.steps) {
    CHECK(row.survivors.once == 1_MiB);
    CHECK(row.survivors.growing == 0_B);
  }
}

TEST_CASE("each step has its own requests, peaks, and device calls", "[steps]") {
  // The model takes a segment of whole 2 MiB for each request, and gives it back when freed.
  const StepTable table = measured(growing_loop());
  const StepRow& before = table.before;
  CHECK(before.first_request == 1);
  CHECK(before.last_request == 1);
  CHECK(before.peak_reserved == 4_MiB);
  CHECK(before.gap_at_peak == 1_MiB);
  CHECK(before.device_allocs == 1);
  CHECK(before.live_at_end == 3_MiB);

  const StepRow& first = table.steps[0];
  CHECK(first.first_request == 2);
  CHECK(first.last_request == 6);
  CHECK(first.peak_allocated == 12_MiB);
  CHECK(first.peak_reserved == 12_MiB);
  CHECK(first.gap_at_peak == 3_MiB);
  CHECK(first.device_allocs == 4);
  CHECK(first.live_at_end == 10_MiB);

  const StepRow& second = table.steps[1];
  CHECK(second.first_request == 7);
  CHECK(second.last_request == 11);
  CHECK(second.peak_reserved == 14_MiB);
  CHECK(second.gap_at_peak == 4_MiB);
  CHECK(second.device_allocs == 3);
  CHECK(second.live_at_end == 11_MiB);

  const StepRow& third = table.steps[2];
  CHECK(third.first_request == 12);
  CHECK(third.last_request == 15);
  CHECK(third.peak_reserved == 16_MiB);
  CHECK(third.gap_at_peak == 5_MiB);
  CHECK(third.device_allocs == 2);
  CHECK(third.live_at_end == 10_MiB);
}

TEST_CASE("a trace without steps is one part", "[steps]") {
  const StepTable table = measured(stepped("malloc a 1MiB 0\nfree a\nmalloc b 3MiB 0\n"));
  CHECK(table.steps.empty());
  CHECK(table.before.last_request == 3);
  CHECK(table.before.peak_reserved == 4_MiB);
  CHECK(table.before.live_at_end == 3_MiB);
}

TEST_CASE("a part without requests says so by its numbers", "[steps]") {
  const StepTable table = measured(stepped("step\nstep\nmalloc a 1MiB 0\n"));
  CHECK(table.before.last_request < table.before.first_request);
  CHECK(table.steps[0].last_request < table.steps[0].first_request);
  CHECK(table.steps[1].first_request == 1);
  CHECK(table.steps[1].last_request == 1);
}

TEST_CASE("settings that the model refuses are refused for steps, too", "[steps]") {
  const Trace trace = stepped("malloc a 1MiB 0\n");
  RunSpec spec;
  spec.model = &toy_model();
  spec.settings = "refused";
  CHECK_THROWS_AS(measure_steps(trace, resolve_conditions(trace, spec)), InputError);
}

TEST_CASE("a leak shows as live bytes that grow from step to step", "[steps][recordings]") {
  const auto trace = recorded_trace("npu_leak_expandable");
  if (!trace) return;
  const StepTable table =
      measure_steps(*trace, resolve_conditions(*trace, npu_spec("expandable_segments:True")));
  std::vector<Bytes> live;
  for (const StepRow& row : table.steps) live.push_back(row.live_at_end);
  CHECK(live == std::vector<Bytes>{Bytes{324'498'208}, Bytes{366'441'248}, Bytes{408'384'288}});
  // The leak itself, and nothing else.
  CHECK(table.steps[1].survivors.growing == Bytes{41'943'040});
}

}  // namespace fragcast
