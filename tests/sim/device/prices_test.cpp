#include "sim/device/prices.hpp"

#include <set>

#include "tests/support/catch.hpp"

namespace fragcast {
namespace {

Microseconds mid(std::string_view device, DeviceCall call, Bytes size) {
  return find_known_device(device)->prices[call].of(1, size, PriceLevel::mid);
}

TEST_CASE("a price has a part for each call and a part that grows with the memory", "[prices]") {
  const Price price{.fixed_us = 10, .us_per_mib = 0.5, .low_divisor = 5, .high_factor = 3};
  CHECK(price.of(4, 40_MiB, PriceLevel::mid) == Microseconds{60});
  CHECK(price.of(4, 40_MiB, PriceLevel::low) == Microseconds{12});
  CHECK(price.of(4, 40_MiB, PriceLevel::high) == Microseconds{180});
  CHECK(price.of(0, Bytes{0}, PriceLevel::high) == Microseconds{0});
}

TEST_CASE("names of devices and calls are unique, and each call has its own", "[prices]") {
  std::set<std::string_view> names;
  for (const KnownDevice& device : known_devices()) {
    CHECK(names.insert(device.name).second);
    CHECK(find_known_device(device.name) == &device);
  }
  CHECK(find_known_device("ascend910") == nullptr);
  std::size_t index = 0;
  for (const DeviceCallName& name : device_call_names()) {
    CHECK(static_cast<std::size_t>(name.call) == index++);
    CHECK(names.insert(name.name).second);
  }
}

TEST_CASE("every price has a range around it", "[prices]") {
  for (const KnownDevice& device : known_devices()) {
    for (const Price& price : device.prices.prices) {
      INFO(device.name);
      if (price.fixed_us == 0) continue;
      CHECK(price.low_divisor > 1);
      CHECK(price.high_factor > 1);
    }
  }
}

TEST_CASE("Ascend prices are guesses, right within a factor of ten at best", "[prices]") {
  for (const KnownDevice& device : known_devices()) {
    if (device.runtime != DeviceRuntime::ascend) continue;
    INFO(device.name);
    CHECK(device.basis == PriceBasis::guess);
    CHECK(device.prices[DeviceCall::segment_alloc].low_divisor == 10);
    CHECK(device.prices[DeviceCall::page_unmap].high_factor == 10);
    CHECK(device.prices[DeviceCall::access_set].fixed_us == 0);
  }
}

TEST_CASE("a device's total is what an allocator is told, and others hold some of it", "[prices]") {
  const KnownDevice& npu = *find_known_device("ascend910b");
  CHECK(*npu.total / 10_MiB == 6'242);  // 60.96 GiB, not 64
  for (const KnownDevice& device : known_devices()) {
    if (device.free_at_start) CHECK(*device.free_at_start < *device.total);
  }
}

TEST_CASE("the A100's prices are those of the sources' table", "[prices]") {
  CHECK(mid("a100", DeviceCall::segment_alloc, 20_MiB).count() == Approx(174));
  CHECK(mid("a100", DeviceCall::segment_free, 20_MiB).count() == Approx(80));
  CHECK(mid("a100", DeviceCall::page_create, 20_MiB).count() == Approx(40));
  CHECK(mid("a100", DeviceCall::access_set, 20_MiB).count() == Approx(65));
  CHECK(mid("a100", DeviceCall::page_destroy, 20_MiB).count() == Approx(29));
  CHECK(find_known_device("a100")->prices[DeviceCall::segment_free].waits == CallWaits::yes);
  CHECK(mid("v100", DeviceCall::segment_alloc, 20_MiB).count() == Approx(261));
  CHECK(find_known_device("h100")->prices[DeviceCall::segment_alloc].high_factor == 15);
}

}  // namespace
}  // namespace fragcast
