#include "replay/explain/growth.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "replay/engine/replay.hpp"
#include "replay/report/growth_csv.hpp"
#include "replay/report/growth_text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_trace.hpp"
#include "tests/support/stepped.hpp"

namespace fragcast {
namespace {

GrowthTable growths_of(const Trace& trace, const std::string& settings = "") {
  return find_growths(trace, resolve_conditions(trace, npu_spec(settings)));
}

/// Why the last growth of a script happened.
GrowthReason last_reason(const std::string& script, const std::string& settings = "") {
  return growths_of(stepped(script), settings).growths.back().reason;
}

const Growth& by_request(const GrowthTable& table, std::uint64_t request) {
  const auto found = std::find_if(table.growths.begin(),
                                  table.growths.end(),
                                  [&](const Growth& growth) { return growth.request == request; });
  INFO("request " << request);
  REQUIRE(found != table.growths.end());
  return *found;
}

TEST_CASE("a growth tells what there was before it, and what was avoidable", "[growth]") {
  // A request of 10 MiB or more has a segment of its own: 15 MiB and padding need 16 MiB.
  const Trace trace = stepped("malloc a 4MiB 0\nmalloc b 4MiB 0\nfree a\nmalloc c 15MiB 0\n");
  const GrowthTable table = growths_of(trace);
  REQUIRE(table.growths.size() == 2);
  const Growth& first = table.growths[0];
  CHECK(first.request == 1);
  CHECK(first.asked == 20_MiB);
  CHECK(first.reason == GrowthReason::first_use);
  CHECK(first.reserved == Bytes{0});
  const Growth& second = table.growths[1];
  CHECK(second.request == 4);
  CHECK(second.size == 15_MiB);
  CHECK(second.need == 15_MiB + Bytes{512});
  CHECK(second.asked == 16_MiB);
  CHECK(second.reserved == 20_MiB);
  // b is live: 4 MiB and padding. All else is free, in two holes.
  CHECK(second.usable == 16_MiB - Bytes{512});
  CHECK(second.largest_hole == 12_MiB - Bytes{1024});
  CHECK(second.reason == GrowthReason::no_hole_fits);
  CHECK(second.short_by() == 3_MiB + Bytes{1536});
  CHECK(second.avoidable() == 16_MiB);
  CHECK(second.last_of_step);
  CHECK(table.greatest_gap == 1);
}

TEST_CASE("the reason says where memory was that could not be used", "[growth]") {
  CHECK(last_reason("malloc a 4MiB 0\nmalloc b 18MiB 0\n") == GrowthReason::pool_full);
  CHECK(last_reason("malloc a 40MiB 1\nfree a\nmalloc b 30MiB 0\n") == GrowthReason::other_stream);
  CHECK(last_reason("malloc a 40MiB 0\nfree a\nmalloc b 1KiB 0\n") == GrowthReason::wrong_pool);
  CHECK(last_reason("malloc a 300MiB 0\nfree a\nmalloc b 30MiB 0\n", "max_split_size_mb:200") ==
        GrowthReason::max_split);
  CHECK(last_reason("events deferred\nmalloc a 40MiB 0\nrecord_stream a 1\nfree a\n"
                    "malloc b 40MiB 0\n") == GrowthReason::pending);
}

TEST_CASE("growths are counted by step, and their last is marked", "[growth]") {
  const Trace trace = stepped(
      "malloc w 30MiB 0\nstep\nmalloc a 50MiB 0\nmalloc b 60MiB 0\nfree a\nfree b\n"
      "step\nmalloc c 50MiB 0\nfree c\n");
  const GrowthTable table = growths_of(trace);
  CHECK(table.per_step == std::vector<std::size_t>{1, 2, 0});
  REQUIRE(table.growths.size() == 3);
  CHECK(table.growths[0].last_of_step);
  CHECK_FALSE(table.growths[1].last_of_step);
  CHECK(table.growths[2].last_of_step);
  std::ostringstream text;
  write_growths(table, trace, {}, text);
  CHECK(text.str().find("growths by step: 1 before, 2, 0; it settles") != std::string::npos);
}

TEST_CASE("what growths ask for is what the device gave", "[growth]") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const TraceShape shape{.calls = 400, .streams = 3, .stream_uses = true, .empty_caches = true};
    const Trace trace = random_trace(shape, choose_by_seed(seed));
    for (const std::string settings : {"", "expandable_segments:True"}) {
      INFO("seed " << seed << " " << settings);
      const Run run = replay(trace, npu_spec(settings));
      Bytes asked;
      for (const Growth& growth : growths_of(trace, settings).growths) {
        asked += growth.asked;
        CHECK(growth.gap.reserved() == growth.reserved);
        CHECK(growth.usable >= growth.largest_hole);
        CHECK(growth.avoidable() <= growth.asked);
      }
      CHECK(asked == run.counts.segment_bytes_allocated + run.counts.bytes_mapped);
    }
  }
}

TEST_CASE("a chosen growth shows the holes and whose blocks are beside them", "[growth]") {
  const Trace trace = stepped(
      "malloc a 4MiB 0 @train.py:1:f\nmalloc b 4MiB 0 @train.py:2:g\nfree a\n"
      "malloc c 15MiB 0 @train.py:3:h\n");
  const GrowthTable table = growths_of(trace);
  std::ostringstream text;
  write_growth(table.growths[1], trace, layout_at(trace, npu_spec(), 3), text);
  CHECK(text.str().find("in train.py:3:h") != std::string::npos);
  CHECK(text.str().find("between the border and 4.00 MiB train.py:2:g") != std::string::npos);
}

TEST_CASE("the CSV has exact bytes", "[growth]") {
  const Trace trace = stepped("malloc a 4MiB 0 @train.py:1:f,g\n");
  std::ostringstream out;
  write_growth_csv(growths_of(trace), trace, out);
  CHECK(out.str().find("\n0,1,0,\"train.py:1:f,g\",4194304,4194816,20971520,0,0,0,0,0,0,0,0,"
                       "16776704,first_use,yes\n") != std::string::npos);
}

TEST_CASE("the growths of a run that settles are those of the recording", "[growth][recordings]") {
  const auto trace = recorded_trace("npu_training");
  if (!trace) return;
  const GrowthTable table = growths_of(*trace);
  CHECK(table.per_step == std::vector<std::size_t>{9, 36, 7, 0});
  const Growth& last = by_request(table, 3715);
  CHECK(last.last_of_step);
  CHECK(last.reserved - last.gap.requested == Bytes{63374248});
  CHECK(last.gap.rounding == Bytes{22498728});
  CHECK(last.gap.pinned == Bytes{19904000});
  CHECK(last.gap.releasable == Bytes{20971520});
  CHECK(last.usable == Bytes{16172032});
  CHECK(last.largest_hole == Bytes{3426816});
  REQUIRE(table.greatest_gap);
  const Growth& greatest = table.growths[*table.greatest_gap];
  CHECK(greatest.request == 2554);
  CHECK(greatest.reserved - greatest.gap.requested == Bytes{146468600});
  CHECK(greatest.usable == Bytes{2336256});
  CHECK(greatest.largest_hole == Bytes{191488});
}

TEST_CASE("a hole that is a little too small is told by how much", "[growth][recordings]") {
  const auto trace = recorded_trace("npu_leak_empty_cache");
  if (!trace) return;
  RunSpec spec = npu_spec();
  spec.start = Start::warm;
  const GrowthTable table = find_growths(*trace, resolve_conditions(*trace, spec));
  const Growth& growth = by_request(table, 3177);
  CHECK(growth.size == Bytes{16777728});
  CHECK(growth.usable == Bytes{76699136});
  CHECK(growth.largest_hole == Bytes{16514048});
  CHECK(growth.reason == GrowthReason::no_hole_fits);
  CHECK(growth.short_by() == Bytes{264192});
  CHECK(growth.reserved - growth.gap.requested == Bytes{119759520});
}

TEST_CASE("one small block can cost half a gigabyte again and again", "[growth][recordings]") {
  const auto trace = recorded_trace("cuda_small");
  if (!trace) return;
  RunSpec spec = npu_spec();
  spec.model = find_model("cuda-caching");
  const GrowthTable table = find_growths(*trace, resolve_conditions(*trace, spec));
  for (const std::uint64_t request : {28U, 33U, 34U, 35U}) {
    const Growth& growth = by_request(table, request);
    CHECK(growth.asked == Bytes{536870912});
    CHECK(growth.usable == Bytes{530317312});
    CHECK(growth.avoidable() == Bytes{530317312});
    CHECK(growth.largest_hole == Bytes{526254080});
  }
}

}  // namespace
}  // namespace fragcast
