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
