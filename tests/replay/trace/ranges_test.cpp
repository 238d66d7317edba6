#include "replay/trace/ranges.hpp"

#include "tests/support/catch.hpp"

using namespace fragcast;

namespace {

constexpr RangeOwner large{
    .stream = StreamId{std::uint16_t{0}}, .pool = {}, .kind = PoolKind::large};
constexpr RangeOwner small{
    .stream = StreamId{std::uint16_t{0}}, .pool = {}, .kind = PoolKind::small};

}  // namespace

TEST_CASE("a range begins at the lowest address mapped in it and ends where its reach does") {
  Ranges ranges{1000_B};
  for (const std::uint64_t address : {5200U, 5000U, 5999U, 6000U, 9000U}) {
    ranges.add(large, Address{address});
  }
  ranges.settle();
  CHECK(ranges.base_of(large, Address{5999}) == Address{5000});
  CHECK(ranges.base_of(large, Address{6100}) == Address{6000});
  CHECK(ranges.base_of(large, Address{9400}) == Address{9000});
}

TEST_CASE("an address belongs to the pool whose range begins before it, else to the next one's") {
  Ranges ranges{1000_B};
  ranges.add(large, Address{5000});
  ranges.add(small, Address{5600});
  ranges.settle();
  const auto kind = [&](std::uint64_t address) {
    return ranges.kind_near(large.stream, large.pool, Address{address});
  };
  CHECK(kind(5590) == PoolKind::large);
  CHECK(kind(5600) == PoolKind::small);
  CHECK(kind(4900) == PoolKind::large);
  CHECK_FALSE(kind(9000).has_value());
}

TEST_CASE("a range lives from its first map until nothing in it is mapped") {
  LiveRanges ranges{1000_B};
  CHECK(ranges.map(large, {Address{5000}, 20_B}));
  CHECK_FALSE(ranges.map(large, {Address{5500}, 20_B}));
  CHECK(ranges.map(small, {Address{5700}, 20_B}));
  ranges.unmap(large, {Address{5000}, 20_B});
  CHECK_FALSE(ranges.map(large, {Address{5000}, 20_B}));
  ranges.unmap(large, {Address{5000}, 20_B});
  ranges.unmap(large, {Address{5500}, 20_B});
  CHECK(ranges.map(large, {Address{5000}, 20_B}));
}

TEST_CASE("a range that was there at the beginning is no new one") {
  LiveRanges ranges{1000_B};
  ranges.adopt(large, Address{5000}, 40_B);
  CHECK_FALSE(ranges.map(large, {Address{5100}, 20_B}));
  ranges.unmap(large, {Address{5100}, 20_B});
  ranges.unmap(large, {Address{5000}, 40_B});
  CHECK(ranges.map(large, {Address{5100}, 20_B}));
}
