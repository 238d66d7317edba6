#include "replay/compare/cost.hpp"

#include "replay/engine/replay.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/trace_builder.hpp"

namespace fragcast {
namespace {

const PriceList& prices(std::string_view device) { return find_known_device(device)->prices; }

CostEstimate cost(double low, double mid, double high) {
  return {.low = Microseconds{low}, .mid = Microseconds{mid}, .high = Microseconds{high}};
}

Run run_of(const Trace& trace, std::string_view model, std::string settings) {
  RunSpec spec;
  spec.model = find_model(model);
  spec.settings = std::move(settings);
  return replay(trace, spec);
}

TEST_CASE("segments cost by number and by size", "[cost]") {
  RunCounts counts;
  counts.segment_allocs = 2;
  counts.segment_bytes_allocated = 100_MiB;
  counts.segment_frees = 1;
  counts.segment_bytes_freed = 20_MiB;
  const CostEstimate npu = estimate(counts, prices("ascend910b"));
  CHECK(npu.mid.count() == Approx(2 * 300 + 100 * 2 + 200 + 20 * 1));
  CHECK(npu.low.count() == Approx(102));
  CHECK(npu.high.count() == Approx(10'200));
  CHECK(npu.waits == 0);
  const CostEstimate cuda = estimate(counts, prices("a100"));
  CHECK(cuda.mid.count() == Approx(420 + 80));
  CHECK(cuda.low.count() == Approx(420.0 / 3 + 80.0 / 4));
  CHECK(cuda.high.count() == Approx(2500));
}

TEST_CASE("waiting is counted beside the calls and is in no price of theirs", "[cost]") {
  RunCounts counts;
  counts.syncs = 5;
  counts.event_syncs = 2;
  const CostEstimate npu = estimate(counts, prices("ascend910b"));
  CHECK(npu.high == Microseconds{0});
  CHECK(npu.waits == 7);
  CHECK(npu.idle_waits == Microseconds{70});

  counts.segment_frees = 3;
  CHECK(estimate(counts, prices("ascend910b")).waits == 7);
  CHECK(estimate(counts, prices("a100")).waits == 10);  // cudaFree waits unseen
}

TEST_CASE("maps of pages of 1 GiB cost the same for any size", "[cost]") {
  RunCounts counts;
  counts.maps = 1;
  counts.pages_mapped = 2;
  counts.bytes_mapped = 2_GiB;
  const double small_pages = estimate(counts, prices("ascend910b")).mid.count();
  counts.gigabyte_pages_mapped = 2;
  CHECK(small_pages == Approx(2 * 40 + 2048 * 0.5));
  CHECK(estimate(counts, prices("ascend910b")).mid.count() == Approx(2 * 40));
}

TEST_CASE("growing by pages of 20 MiB costs each page, and access once", "[cost]") {
  TraceBuilder builder;
  const AllocationId a = builder.allocate(1020_MiB);
  builder.deallocate(a);
  builder.apply(control::EmptyCache{});
  const Run cuda = run_of(builder.trace(), "cuda-caching", "expandable_segments:True");
  CHECK(cuda.counts.maps == 1);
  CHECK(cuda.counts.pages_created == 51);
  CHECK(cuda.counts.page_bytes_created == 1020_MiB);
  CHECK(cuda.counts.bytes_unmapped == 1020_MiB);
  CHECK(cuda.counts.ranges_reserved == 1);
  RunCounts growing = cuda.counts;
  growing.pages_unmapped = growing.pages_destroyed = growing.ranges_released = 0;
  growing.bytes_unmapped = growing.page_bytes_destroyed = Bytes{0};
  const double grown = estimate(growing, prices("a100")).mid.count();
  // Each page 28 + 12 and 2; access 35 + 1.5 a MiB; the range 10.
  CHECK(grown == Approx(51 * 42 + 35 + 1020 * 1.5 + 10));
  CHECK(estimate(cuda.counts, prices("a100")).mid.count() - grown ==
        Approx(51 * (30 + 10 + 23 + 6) + 1));

  const Run npu = run_of(builder.trace(), "npu-caching", "");
  CHECK(estimate(npu.counts, prices("ascend910b")).mid.count() ==
        Approx(300 + 1022 * 2 + 200 + 1022));
}

TEST_CASE("events cost when they are recorded and when they are asked for", "[cost]") {
  TraceBuilder builder;
  builder.trace().conditions.instant_events = false;
  const AllocationId a = builder.allocate(2_MiB);
  builder.record_stream(a, StreamId{1u});
  builder.deallocate(a);
  builder.allocate(2_MiB);
  builder.allocate(2_MiB);
  const Run run = run_of(builder.trace(), "npu-caching", "");
  CHECK(run.counts.events_recorded == 1);
  CHECK(run.counts.event_queries == 2);
  RunCounts none = run.counts;
  none.events_recorded = none.event_queries = 0;
  CHECK((estimate(run.counts, prices("ascend910b")).mid - estimate(none, prices("ascend910b")).mid)
            .count() == Approx(9));
}

TEST_CASE("a run is cheaper only if it is so at all prices", "[cost]") {
  CHECK(is_cheaper(cost(1, 10, 100), cost(2, 20, 200)) == Cheaper::yes);
  CHECK(is_cheaper(cost(2, 20, 200), cost(1, 10, 100)) == Cheaper::no);
  CHECK(is_cheaper(cost(1, 10, 100), cost(1, 10, 100)) == Cheaper::no);
  CHECK(is_cheaper(cost(1, 10, 300), cost(2, 20, 200)) == Cheaper::unclear);
  CHECK(is_cheaper(cost(2, 10, 100), cost(2, 20, 200)) == Cheaper::unclear);
}

TEST_CASE("cheaper calls do not decide where there is more waiting", "[cost]") {
  CostEstimate waiting = cost(1, 10, 100);
  waiting.waits = 1;
  CHECK(is_cheaper(waiting, cost(2, 20, 200)) == Cheaper::unclear);
  CHECK(is_cheaper(cost(2, 20, 200), waiting) == Cheaper::unclear);
  CHECK(is_cheaper(cost(1, 10, 100), waiting) == Cheaper::unclear);
}

TEST_CASE("durations have three significant figures", "[cost]") {
  CHECK(human_duration(Microseconds{0}) == "0 us");
  CHECK(human_duration(Microseconds{0.5}) == "0.500 us");
  CHECK(human_duration(Microseconds{3}) == "3.00 us");
  CHECK(human_duration(Microseconds{999.4}) == "999 us");
  CHECK(human_duration(Microseconds{999.6}) == "1.00 ms");
  CHECK(human_duration(Microseconds{12'345}) == "12.3 ms");
  CHECK(human_duration(Microseconds{99'960}) == "100 ms");
  CHECK(human_duration(Microseconds{1.5e6}) == "1.50 s");
  CHECK(human_cost(cost(1'230, 12'300, 123'000)) == "12.3 ms (1.23..123)");
  CHECK(human_cost(cost(30, 1'500, 6e6)) == "1.50 ms (0.0300..6000)");
  CHECK(human_cost(cost(0, 0, 0)) == "0 us");
}

}  // namespace
}  // namespace fragcast
