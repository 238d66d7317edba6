#include "replay/search/size_profile.hpp"

#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/parse_layout.hpp"
#include "tests/support/stepped.hpp"
#include "tests/support/trace_builder.hpp"

namespace fragcast {
namespace {

using Sizes = std::vector<Bytes>;

Sizes blocks(const SizeProfile& profile) {
  Sizes sizes;
  for (const SizeClass& size_class : profile.large) sizes.push_back(size_class.block);
  return sizes;
}

/// 10 × 4 MiB, 3 × 30 MiB, 1 × 400 MiB: 40, 90 and 400 MiB in all.
SizeProfile three_sizes() {
  return {.large = {{.block = 4_MiB, .requests = 10},
                    {.block = 30_MiB, .requests = 3},
                    {.block = 400_MiB, .requests = 1}},
          .live_peak = {},
          .shared_live_peak = {}};
}

}  // namespace

TEST_CASE("sizes are those of blocks of the large pool, padded and rounded", "[size_profile]") {
  const Trace trace = stepped(
      "malloc a 1MiB 0\n"
      "malloc b 2MiB 0\n"
      "malloc c 2MiB 1\n"
      "malloc d 3MiB 0\n"
      "malloc e 4KiB 0\n");
  const SizeProfile padded = profile_sizes(trace, 32_B);
  CHECK(blocks(padded) == Sizes{1_MiB + 512_B, 2_MiB + 512_B, 3_MiB + 512_B});
  CHECK(padded.large[1].requests == 2);
  CHECK(blocks(profile_sizes(trace, 0_B)) == Sizes{2_MiB, 3_MiB});
}

TEST_CASE("the most bytes live at once are counted as requested", "[size_profile]") {
  const SizeProfile profile = profile_sizes(stepped("malloc a 5MiB 0\n"
                                                    "malloc b 100MiB 0\n"
                                                    "free a\n"
                                                    "malloc c 2MiB 0\n"
                                                    "malloc d 2MiB 0\n"),
                                            32_B);
  CHECK(profile.live_peak == 105_MiB);
  CHECK(profile.shared_live_peak == 5_MiB);
}

TEST_CASE("what a trace begins with is live, and what failed is so for a moment",
          "[size_profile]") {
  TraceBuilder builder;
  builder.begin_with(parse_layout("[A0 40M/30M][. 20M]"));
  builder.fail_to_allocate(50_MiB);
  builder.deallocate(AllocationId{0});
  builder.allocate(60_MiB);
  const SizeProfile profile = profile_sizes(builder.trace(), 0_B);
  CHECK(profile.live_peak == 80_MiB);
  CHECK(blocks(profile) == Sizes{30_MiB, 50_MiB, 60_MiB});
}

TEST_CASE("quantiles of sizes are weighted by bytes", "[size_profile]") {
  // Of 530 MiB, 40 lie up to 4 MiB (7.5 %) and 130 up to 30 MiB (24.5 %).
  CHECK(byte_quantiles(three_sizes(), {0.07, 0.1, 0.24, 0.25, 1.0}) ==
        Sizes{4_MiB, 30_MiB, 30_MiB, 400_MiB, 400_MiB});
  CHECK(byte_quantiles({}, {0.5}).empty());
}

TEST_CASE("gaps count by their width and by the bytes on their lighter side", "[size_profile]") {
  // log2(7.5) · 40 MiB = 116 against log2(13.3) · 130 MiB = 486.
  CHECK(sizes_above_gaps(three_sizes(), 1) == Sizes{400_MiB});
  CHECK(sizes_above_gaps(three_sizes(), 5) == Sizes{30_MiB, 400_MiB});
  CHECK(sizes_above_gaps({}, 5).empty());
}

TEST_CASE("two profiles together have all sizes and the larger peak", "[size_profile]") {
  const SizeProfile one = profile_sizes(stepped("malloc a 2MiB 0\nmalloc b 40MiB 0\n"), 0_B);
  const SizeProfile other = profile_sizes(stepped("malloc a 2MiB 0\nmalloc b 30MiB 0\n"), 0_B);
  const SizeProfile both = joined(one, other);
  CHECK(blocks(both) == Sizes{2_MiB, 30_MiB, 40_MiB});
  CHECK(both.large.front().requests == 2);
  CHECK(both.live_peak == 42_MiB);
}

}  // namespace fragcast
