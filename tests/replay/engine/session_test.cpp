#include "replay/engine/session.hpp"

#include "replay/formats/input_error.hpp"
#include "sim/observe/draw.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/parse_layout.hpp"
#include "tests/support/toy_model.hpp"
#include "tests/support/trace_builder.hpp"

namespace fragcast {
namespace {

using Kind = EventResult::Kind;

RunConditions conditions(const Trace& trace, Start start = Start::cold) {
  RunSpec spec;
  spec.model = &toy_model();
  spec.start = start;
  return resolve_conditions(trace, spec);
}

std::string drawing(const Session& session) {
  return draw(session.model().layout(), BlockDetail::everything);
}

TEST_CASE("a session carries out one event at a time", "[session]") {
  TraceBuilder builder;
  const AllocationId a = builder.allocate(3_MiB);
  builder.deallocate(a);
  Session session{builder.trace(), conditions(builder.trace())};

  CHECK(session.next().kind == EventKind::allocate);
  const EventResult placed = session.step();
  CHECK(placed.kind == Kind::placed);
  CHECK(placed.placement.size == 4_MiB);
  CHECK(drawing(session) == "0x100000000000 large stream 0 kept: [A0 4M/3M]\n");
  CHECK(session.step().kind == Kind::done);
  CHECK(session.model().layout().empty());
  CHECK(session.at_end());
}

TEST_CASE("calls on an allocation that could not be served are skipped", "[session]") {
  TraceBuilder builder;
  builder.trace().conditions.device_memory = 8_MiB;
  const AllocationId a = builder.allocate(10_MiB);
  builder.record_stream(a, StreamId{1});
  builder.apply(control::EraseStream{.allocation = a, .owner = StreamId{0}, .stream = StreamId{1}});
  builder.deallocate(a);
  Session session{builder.trace(), conditions(builder.trace())};

  CHECK(session.step().kind == Kind::out_of_memory);
  CHECK(session.last_oom().tried == 10_MiB);
  CHECK(session.last_oom().device_free == 8_MiB);
  CHECK(session.step().kind == Kind::skipped);
  CHECK(session.step().kind == Kind::skipped);
  CHECK(session.step().kind == Kind::skipped);
}

TEST_CASE("a device without a size never runs out and claims 64 GiB", "[session]") {
  TraceBuilder builder;
  builder.trace().conditions.device_memory.reset();
  builder.allocate(100_GiB);
  Session session{builder.trace(), conditions(builder.trace())};
  CHECK(session.device().total() == 64_GiB);
  CHECK(session.step().kind == Kind::placed);
  CHECK(session.device().free() == 0_B);
}

TEST_CASE("a freed block stays until the trace completes its stream", "[session]") {
  TraceBuilder builder;
  builder.trace().conditions.instant_events = false;
  const AllocationId a = builder.allocate(2_MiB);
  builder.record_stream(a, StreamId{1});
  builder.deallocate(a);
  builder.allocate(4_MiB);
  builder.complete_events(StreamId{1});
  builder.allocate(6_MiB);
  Session session{builder.trace(), conditions(builder.trace())};

  session.run_to(4);
  CHECK(drawing(session) ==
        "0x100000000000 large stream 0: [P0 2M]\n"
        "0x100000200000 large stream 0 kept: [A1 4M]\n");
  session.run_to(6);
  CHECK(drawing(session) ==
        "0x100000200000 large stream 0 kept: [A1 4M]\n"
        "0x100000600000 large stream 0 kept: [A2 6M]\n");
}

TEST_CASE("a call that the model refuses is reported and the session goes on", "[session]") {
  TraceBuilder builder;
  builder.apply(control::EmptyVirtualAddressCache{});
  builder.allocate(2_MiB);
  Session session{builder.trace(), conditions(builder.trace())};
  CHECK(session.step().kind == Kind::refused);
  CHECK(session.last_refusal() == "there are no addresses to cache");
  CHECK(session.step().kind == Kind::placed);
}

TEST_CASE("a warm start has the recorded blocks at their addresses", "[session]") {
  TraceBuilder builder;
  builder.begin_with(parse_layout("0x7000000000: [A0 2M/1M]\n0x7000400000 stream 1: [A1 4M]\n"));
  builder.deallocate(AllocationId{0});
  Session session{builder.trace(), conditions(builder.trace(), Start::warm)};

  CHECK(drawing(session) ==
        "0x7000000000 large stream 0 kept: [A0 2M/1M]\n"
        "0x7000400000 large stream 1 kept: [A1 4M]\n");
  CHECK(session.totals().device_allocs == 0);
  CHECK(session.totals().peak.reserved == 6_MiB);
  session.step();
  CHECK(session.totals().device_frees == 1);
  CHECK(session.device().used() == 4_MiB);
}

TEST_CASE("a warm start hands out the recorded device addresses", "[session]") {
  TraceBuilder builder;
  builder.trace().addresses.segments = {{.address = Address{0x7000800000}, .size = 2_MiB}};
  builder.allocate(2_MiB);
  builder.allocate(2_MiB);
  Session session{builder.trace(), conditions(builder.trace(), Start::warm)};
  CHECK(session.step().placement.address == Address{0x7000800000});
  CHECK(session.step().placement.address == Address{0x100000000000});
}

TEST_CASE("a cold start can place the largest blocks of each stream first", "[session]") {
  TraceBuilder builder;
  builder.begin_with(
      parse_layout("0x7000000000: [A0 2M]\n"
                   "0x7001000000: [A1 6M]\n"
                   "0x7002000000: [A2 2M]\n"
                   "0x7003000000 stream 1: [A3 8M]\n"));
  Session session{builder.trace(), conditions(builder.trace(), Start::cold_largest_first)};
  CHECK(drawing(session) ==
        "0x100000000000 large stream 0 kept: [A1 6M]\n"
        "0x100000600000 large stream 0 kept: [A0 2M]\n"
        "0x100000800000 large stream 0 kept: [A2 2M]\n"
        "0x100000a00000 large stream 1 kept: [A3 8M]\n");
  CHECK(session.totals().device_allocs == 0);
}

TEST_CASE("a cold start lets the model place the recorded blocks by stream and address",
          "[session]") {
  TraceBuilder builder;
  builder.begin_with(
      parse_layout("0x7000000000 stream 1: [A0 2M/1M]\n"
                   "0x7000400000: [. 20M]\n"
                   "0x7002000000 pool 5: [A1 4M]\n"
                   "0x7003000000: [A2 2M]\n"));
  Session session{builder.trace(), conditions(builder.trace())};
  CHECK(drawing(session) ==
        "0x100000000000 large stream 0 kept: [A2 2M]\n"
        "0x100000200000 large stream 1 kept: [A0 2M/1M]\n"
        "0x100000400000 large stream 0 pool 5 kept: [A1 4M]\n");
  CHECK(session.totals().device_allocs == 0);
  CHECK(session.device().counters().segments_allocated == 0);
  CHECK(session.totals().peak.reserved == 8_MiB);
}

TEST_CASE("recorded blocks that find no memory in a cold start are told and skipped", "[session]") {
  TraceBuilder builder;
  builder.trace().conditions.device_memory = 4_MiB;
  builder.begin_with(parse_layout("[A0 4M]\n[A1 2M]\n"));
  builder.deallocate(AllocationId{1});
  Session session{builder.trace(), conditions(builder.trace())};
  REQUIRE(session.start_ooms().size() == 1);
  CHECK(session.start_ooms().front().requested == 2_MiB);
  CHECK(session.step().kind == Kind::skipped);
}

TEST_CASE("a block freed before the trace began waits for its stream", "[session]") {
  for (const Start start : {Start::warm, Start::cold}) {
    TraceBuilder builder;
    builder.trace().conditions.instant_events = false;
    builder.begin_with(parse_layout("[A0 2M]\n[A1 4M]\n"));
    builder.trace().initial.pending = {{.allocation = AllocationId{0}, .stream = StreamId{3}}};
    builder.complete_events(StreamId{3});
    builder.apply(control::Synchronize{});
    Session session{builder.trace(), conditions(builder.trace(), start)};

    CHECK(current_usage(session.model().statistics()).allocated == 4_MiB);
    CHECK(current_usage(session.model().statistics()).active == 6_MiB);
    CHECK(session.totals().peak.allocated == 4_MiB);
    session.run_to(2);
    CHECK(current_usage(session.model().statistics()).active == 4_MiB);
  }
}

TEST_CASE("totals do not forget what the trace resets", "[session]") {
  TraceBuilder builder;
  const AllocationId a = builder.allocate(8_MiB);
  builder.deallocate(a);
  builder.apply(control::ResetPeak{});
  builder.apply(control::ResetAccumulated{});
  builder.allocate(2_MiB);
  builder.apply(control::EmptyCache{});
  Session session{builder.trace(), conditions(builder.trace())};
  session.run_to(builder.trace().events.size());

  CHECK(session.model().statistics().num_device_alloc == 1);
  const RunTotals totals = session.totals();
  CHECK(totals.device_allocs == 2);
  CHECK(totals.device_frees == 1);
  CHECK(totals.peak.reserved == 8_MiB);
  CHECK(totals.empty_caches == 1);
}

TEST_CASE("settings that the model refuses leave a session with the reason", "[session]") {
  TraceBuilder builder;
  builder.trace().conditions.settings = "refused";
  const Session session{builder.trace(), conditions(builder.trace())};
  CHECK(session.refusal() == "a toy refuses these settings");
}

TEST_CASE("what the trace says of its conditions gives way to the run's own", "[session]") {
  Trace trace;
  trace.conditions = {.settings = "recorded",
                      .device_memory = 1_GiB,
                      .fraction = 0.5,
                      .soc = "ascend950",
                      .instant_events = false};
  RunSpec spec;
  spec.model = &toy_model();
  const RunConditions recorded = resolve_conditions(trace, spec);
  CHECK(recorded.settings == "recorded");
  CHECK(recorded.device_memory == 1_GiB);
  CHECK(recorded.fraction == 0.5);
  CHECK(recorded.soc == Soc::ascend950);
  CHECK_FALSE(recorded.instant_events);

  spec.settings = "own";
  spec.device_memory = 2_GiB;
  spec.fraction = 0.25;
  spec.soc = Soc::ascend910b;
  const RunConditions own = resolve_conditions(trace, spec);
  CHECK(own.settings == "own");
  CHECK(own.device_memory == 2_GiB);
  CHECK(own.fraction == 0.25);
  CHECK(own.soc == Soc::ascend910b);
}

TEST_CASE("a chip that nobody knows is an input error that lists the known ones", "[session]") {
  Trace trace;
  trace.conditions.soc = "ascend1";
  RunSpec spec;
  spec.model = &toy_model();
  CHECK_THROWS_WITH(resolve_conditions(trace, spec),
                    "input: the chip 'ascend1' is unknown; known are ascend910b and ascend950");
}

}  // namespace
}  // namespace fragcast
