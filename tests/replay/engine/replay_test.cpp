#include "replay/engine/replay.hpp"

#include "replay/engine/session.hpp"
#include "sim/observe/draw.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/parse_layout.hpp"
#include "tests/support/toy_model.hpp"
#include "tests/support/trace_builder.hpp"

namespace fragcast {
namespace {

RunSpec toy_spec() {
  RunSpec spec;
  spec.model = &toy_model();
  return spec;
}

TEST_CASE("a run tells peaks, final values and counts", "[replay]") {
  TraceBuilder builder;
  const AllocationId a = builder.allocate(3_MiB);
  builder.allocate(2_MiB);
  builder.deallocate(a);
  const Run run = replay(builder.trace(), toy_spec());

  CHECK(run.outcome == RunOutcome::completed);
  CHECK(run.conditions.start == Start::empty);
  CHECK(run.peak ==
        Usage{.requested = 5_MiB, .allocated = 6_MiB, .active = 6_MiB, .reserved = 6_MiB});
  CHECK(run.final.reserved == 2_MiB);
  CHECK(run.counts.device_allocs == 2);
  CHECK(run.counts.device_frees == 1);
  CHECK(run.counts.segment_allocs == 2);
  CHECK(run.counts.segment_frees == 1);
  CHECK(run.counts.maps == 0);
  CHECK(run.events == 3);
}

TEST_CASE("the gap is taken at the first event after which reserved is highest", "[replay]") {
  TraceBuilder builder;
  const AllocationId a = builder.allocate(3_MiB);
  builder.deallocate(a);
  builder.allocate(4_MiB);
  const Run run = replay(builder.trace(), toy_spec());
  CHECK(run.at_peak_reserved.event == EventIndex{0});
  CHECK(run.at_peak_reserved.gap.requested == 3_MiB);
  CHECK(run.at_peak_reserved.gap.rounding == 1_MiB);
  CHECK(run.at_peak_reserved.gap.reserved() == run.peak.reserved);
}

TEST_CASE("a heap that only shrinks peaks before the first event", "[replay]") {
  TraceBuilder builder;
  builder.begin_with(parse_layout("[A0 2M]\n[A1 4M/3M]\n"));
  builder.deallocate(AllocationId{0});
  RunSpec spec = toy_spec();
  spec.start = Start::warm;
  const Run run = replay(builder.trace(), spec);
  CHECK(run.conditions.start == Start::warm);
  CHECK_FALSE(run.at_peak_reserved.event.has_value());
  CHECK(run.at_peak_reserved.gap.reserved() == 6_MiB);
  CHECK(run.counts.device_allocs == 0);
  CHECK(run.counts.device_frees == 1);
}

TEST_CASE("a run carries on after a failed request and says so", "[replay]") {
  TraceBuilder builder;
  builder.trace().conditions.device_memory = 8_MiB;
  const AllocationId a = builder.allocate(10_MiB);
  builder.deallocate(a);
  builder.allocate(2_MiB);
  const Run run = replay(builder.trace(), toy_spec());

  CHECK(run.outcome == RunOutcome::out_of_memory);
  CHECK(run.reason == "toy out of memory");
  CHECK(fails_anew(run));
  REQUIRE(run.failures.size() == 1);
  CHECK(run.failures[0].event == EventIndex{0});
  CHECK(run.failures[0].requested == 10_MiB);
  CHECK(run.failures[0].device_free == 8_MiB);
  CHECK(run.counts.ooms == 1);
  CHECK(run.final.reserved == 2_MiB);
}

TEST_CASE("a run may stop at the first failed request", "[replay]") {
  TraceBuilder builder;
  builder.trace().conditions.device_memory = 8_MiB;
  builder.allocate(10_MiB);
  builder.allocate(2_MiB);
  RunSpec spec = toy_spec();
  spec.on_oom = OnOom::stop;
  const Run run = replay(builder.trace(), spec);
  CHECK(run.events == 1);
  CHECK(run.final.reserved == 0_B);
}

TEST_CASE("a request that failed in the recording too is no new failure", "[replay]") {
  TraceBuilder builder;
  builder.trace().conditions.device_memory = 8_MiB;
  builder.fail_to_allocate(10_MiB);
  builder.allocate(2_MiB);
  RunSpec spec = toy_spec();
  spec.on_oom = OnOom::stop;
  const Run run = replay(builder.trace(), spec);
  CHECK(run.outcome == RunOutcome::out_of_memory);
  CHECK_FALSE(fails_anew(run));
  CHECK(run.events == 2);
  CHECK(run.recorded_failures_served == 0);

  spec.device_memory = 64_MiB;
  const Run larger = replay(builder.trace(), spec);
  CHECK(larger.outcome == RunOutcome::completed);
  CHECK(larger.recorded_failures_served == 1);
}

TEST_CASE("blocks that a cold start cannot place are failures before the first event", "[replay]") {
  TraceBuilder builder;
  builder.trace().conditions.device_memory = 4_MiB;
  builder.begin_with(parse_layout("[A0 4M]\n[A1 2M]\n"));
  builder.allocate(1_MiB);
  RunSpec spec = toy_spec();
  const Run run = replay(builder.trace(), spec);
  REQUIRE(run.failures.size() == 2);
  CHECK_FALSE(run.failures[0].event.has_value());
  CHECK(run.failures[1].event == EventIndex{0});
  CHECK(run.counts.ooms == 1);

  spec.on_oom = OnOom::stop;
  CHECK(replay(builder.trace(), spec).events == 0);
}

TEST_CASE("a refused setting is a run with the reason", "[replay]") {
  TraceBuilder builder;
  builder.allocate(2_MiB);
  RunSpec spec = toy_spec();
  spec.name = "strange";
  spec.settings = "refused";
  const Run run = replay(builder.trace(), spec);
  CHECK(run.name == "strange");
  CHECK(run.outcome == RunOutcome::refused);
  CHECK(run.reason == "a toy refuses these settings");
}

TEST_CASE("remarks on accepted settings are kept", "[replay]") {
  TraceBuilder builder;
  RunSpec spec = toy_spec();
  spec.settings = "odd";
  CHECK(replay(builder.trace(), spec).warnings == std::vector<std::string>{"odd settings"});
}

TEST_CASE("calls that the model refuses are listed", "[replay]") {
  TraceBuilder builder;
  builder.allocate(2_MiB);
  builder.apply(control::EmptyVirtualAddressCache{});
  const Run run = replay(builder.trace(), toy_spec());
  REQUIRE(run.refused_calls.size() == 1);
  CHECK(run.refused_calls[0].event == EventIndex{1});
  CHECK(run.refused_calls[0].reason == "there are no addresses to cache");
}

TEST_CASE("the series has the amounts after every event", "[replay]") {
  TraceBuilder builder;
  const AllocationId a = builder.allocate(3_MiB);
  builder.add(EventKind::mark);
  builder.deallocate(a);
  const Run run = replay(builder.trace(), toy_spec(), KeepSeries::yes);
  REQUIRE(run.series.size() == 3);
  CHECK(run.series[0].requested == 3_MiB);
  CHECK(run.series[1] == run.series[0]);
  CHECK(run.series[2] == Usage{});
  CHECK(replay(builder.trace(), toy_spec()).series.empty());
}

TEST_CASE("others take their share of the device", "[replay]") {
  TraceBuilder builder;
  builder.allocate(6_MiB);
  RunSpec spec = toy_spec();
  spec.device_memory = 8_MiB;
  spec.others = 2_MiB;
  CHECK(replay(builder.trace(), spec).outcome == RunOutcome::completed);
  spec.others = 4_MiB;
  const Run run = replay(builder.trace(), spec);
  CHECK(run.outcome == RunOutcome::out_of_memory);
  CHECK(run.failures.at(0).device_free == 4_MiB);
}

TEST_CASE("a device that never runs out serves more than the total that it is said to have",
          "[replay]") {
  TraceBuilder builder;
  builder.trace().conditions.device_memory.reset();
  builder.allocate(73_GiB);
  for (const char* name : {"npu-caching", "cuda-caching"}) {
    for (const char* settings : {"", "expandable_segments:True"}) {
      RunSpec spec;
      spec.model = find_model(name);
      spec.settings = settings;
      INFO(name << " " << settings);
      CHECK(replay(builder.trace(), spec).outcome == RunOutcome::completed);
    }
  }
}

TEST_CASE("a replay of a search is the same run, or ends when it is enough", "[replay]") {
  TraceBuilder builder;
  const AllocationId a = builder.allocate(3_MiB);
  builder.allocate(2_MiB);
  builder.deallocate(a);
  const Run whole = replay(builder.trace(), toy_spec());
  const auto searched =
      replay_unless(builder.trace(), toy_spec(), [](const Session&) { return false; });
  REQUIRE(searched);
  CHECK(searched->peak == whole.peak);
  CHECK(searched->counts.device_allocs == whole.counts.device_allocs);
  CHECK(searched->at_peak_reserved.event == whole.at_peak_reserved.event);

  std::size_t asked = 0;
  CHECK_FALSE(replay_unless(builder.trace(), toy_spec(), [&](const Session& session) {
    ++asked;
    return session.totals().peak.reserved > 4_MiB;
  }));
  CHECK(asked == 2);
}

TEST_CASE("many runs of a trace come in the order of their specs", "[replay]") {
  TraceBuilder builder;
  builder.allocate(3_MiB);
  std::vector<RunSpec> specs(8, toy_spec());
  for (std::size_t i = 0; i < specs.size(); ++i) specs[i].device_memory = Bytes{1 << i} * (1 << 20);
  for (const unsigned threads : {1U, 3U}) {
    const std::vector<Run> runs = replay_all(builder.trace(), specs, KeepSeries::no, threads);
    REQUIRE(runs.size() == 8);
    CHECK(runs[1].outcome == RunOutcome::out_of_memory);
    CHECK(runs[2].outcome == RunOutcome::completed);
    CHECK(runs[7].conditions.device_memory == 128_MiB);
  }
}

TEST_CASE("the layout at a place is the heap after that many events", "[replay]") {
  TraceBuilder builder;
  const AllocationId a = builder.allocate(2_MiB);
  builder.allocate(4_MiB);
  builder.deallocate(a);
  CHECK(layout_at(builder.trace(), toy_spec(), 0).empty());
  CHECK(draw(layout_at(builder.trace(), toy_spec(), 2)) ==
        "0x100000000000 large stream 0 kept: [A 2M]\n"
        "0x100000200000 large stream 0 kept: [A 4M]\n");
  CHECK(draw(layout_at(builder.trace(), toy_spec(), 3)) ==
        "0x100000200000 large stream 0 kept: [A 4M]\n");
}

}  // namespace
}  // namespace fragcast
