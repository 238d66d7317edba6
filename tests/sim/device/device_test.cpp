#include "sim/device/device.hpp"

#include "tests/support/catch.hpp"

using namespace fragcast;

namespace {

constexpr RangeOwner owner{.stream = StreamId{0u}, .pool = {}, .kind = PoolKind::large};
constexpr RangeOwner other{.stream = StreamId{1u}, .pool = {}, .kind = PoolKind::large};
const Address place{std::uint64_t{5000} << 20};

}  // namespace

TEST_CASE("a planned segment is placed as planned if it has the planned size", "[device]") {
  Device device{{}};
  device.plan_segments({{.address = place, .size = 20_MiB}});
  CHECK(device.allocate_segment(2_MiB, 2_MiB) != place);
  CHECK(device.allocate_segment(20_MiB, 2_MiB) == place);
}

TEST_CASE("a planned segment does not go where a replay that strayed still has one", "[device]") {
  Device device{{}};
  device.plan_segments({{.address = place, .size = 20_MiB},
                        {.address = place, .size = 20_MiB},
                        {.address = place + 2_MiB, .size = 4_MiB},
                        {.address = place, .size = 20_MiB}});
  CHECK(device.allocate_segment(20_MiB, 2_MiB) == place);
  CHECK(device.allocate_segment(20_MiB, 2_MiB) != place);
  CHECK(device.allocate_segment(4_MiB, 2_MiB) != place + 2_MiB);
  device.free_segment({place, 20_MiB}, 2_MiB);
  CHECK(device.allocate_segment(20_MiB, 2_MiB) == place);
}

TEST_CASE("what the device places by itself lies beyond all that is planned", "[device]") {
  const Address far{std::uint64_t{1} << 46};
  Device device{{}};
  device.plan_segments({{.address = far, .size = 20_MiB}});
  CHECK(device.allocate_segment(2_MiB, 2_MiB) == far + 20_MiB);
  device.plan_ranges({{.address = far + 1_GiB, .size = 72_GiB, .owner = owner}});
  CHECK(device.reserve_range(72_GiB, other) == far + 73_GiB);
}

TEST_CASE("a planned range waits for its owner", "[device]") {
  Device device{{}};
  device.plan_ranges({{.address = place, .size = 72_GiB, .owner = owner}});
  CHECK(device.reserve_range(72_GiB, other) != place);
  CHECK(device.reserve_range(72_GiB, owner) == place);
}

TEST_CASE("a range larger than was planned is not put between planned ones", "[device]") {
  Device device{{}};
  device.plan_ranges({{.address = place, .size = 7_GiB, .owner = owner},
                      {.address = place + 8_GiB, .size = 7_GiB, .owner = other}});
  CHECK(device.reserve_range(72_GiB, owner) == DeviceProfile{}.first_range);
  CHECK(device.reserve_range(7_GiB, other) == place + 8_GiB);
}

TEST_CASE("planned ranges may lie closer than the assumed size of the device allows", "[device]") {
  Device device{{}};
  device.plan_ranges({{.address = place, .size = 72_GiB, .owner = owner},
                      {.address = place + 8_GiB, .size = 72_GiB, .owner = other}});
  CHECK(device.reserve_range(72_GiB, owner) == place);
  CHECK(device.reserve_range(72_GiB, other) == place + 8_GiB);
}

TEST_CASE("what was there before the replay is in the way of what is planned", "[device]") {
  Device device{{}};
  device.plan_segments({{.address = place + 2_MiB, .size = 2_MiB}});
  device.adopt({place, 20_MiB}, 20_MiB);
  CHECK(device.used() == 20_MiB);
  CHECK(device.allocate_segment(2_MiB, 2_MiB) != place + 2_MiB);
}

TEST_CASE("the device counts how much memory each kind of call is about", "[device]") {
  Device device{{.total = 5_GiB}};
  const Address segment = device.allocate_segment(3_MiB, 2_MiB).value();
  device.free_segment({segment, 3_MiB}, 2_MiB);
  REQUIRE(device.create_pages(3, 20_MiB));
  device.map_pages(3, 20_MiB);
  device.unmap_pages(2, 20_MiB);
  device.destroy_pages(2, 20_MiB);
  CHECK(device.counters().segment_bytes_allocated == 3_MiB);
  CHECK(device.counters().segment_bytes_freed == 3_MiB);
  CHECK(device.counters().page_bytes_created == 60_MiB);
  CHECK(device.counters().page_bytes_destroyed == 40_MiB);
  CHECK(device.counters().bytes_mapped == 60_MiB);
  CHECK(device.counters().bytes_unmapped == 40_MiB);
  CHECK(device.counters().gigabyte_maps == 0);

  REQUIRE_FALSE(device.create_pages(5, 1_GiB));
  CHECK(device.counters().page_bytes_created == 60_MiB + 4_GiB);
  CHECK(device.counters().page_bytes_destroyed == 40_MiB + 4_GiB);
  device.map_pages(2, 1_GiB);
  device.unmap_pages(1, 1_GiB);
  CHECK(device.counters().gigabyte_maps == 2);
  CHECK(device.counters().gigabyte_unmaps == 1);
}

TEST_CASE("the device counts events and every question about one", "[device]") {
  Device device{{.instant_events = false}};
  const DeviceEvent event = device.record_event(StreamId{1u});
  CHECK_FALSE(device.is_done(event));
  device.wait_for(event);
  CHECK(device.is_done(event));
  CHECK(device.counters().events_recorded == 1);
  CHECK(device.counters().event_queries == 2);
  CHECK(device.counters().event_syncs == 1);
}

TEST_CASE("what others hold is neither free nor used, and part of the total", "[device]") {
  Device device{{.total = 100_MiB, .held_by_others = 60_MiB}};
  CHECK(device.total() == 100_MiB);
  CHECK(device.free() == 40_MiB);
  CHECK(device.used() == Bytes{0});
  CHECK_FALSE(device.allocate_segment(42_MiB, 2_MiB));
  CHECK(device.allocate_segment(40_MiB, 2_MiB));
  CHECK(device.free() == Bytes{0});
}
