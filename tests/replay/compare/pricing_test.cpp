#include "replay/compare/pricing.hpp"

#include <vector>

#include "replay/formats/input_error.hpp"
#include "tests/support/catch.hpp"

namespace fragcast {
namespace {

Pricing choose(std::string_view model,
               Soc soc,
               const KnownDevice* profile,
               const std::vector<PriceOverride>& overrides = {}) {
  return choose_prices(*find_model(model), soc, profile, overrides);
}

TEST_CASE("without a profile the model's usual device has the prices", "[pricing]") {
  CHECK(choose("npu-caching", Soc::ascend910b, nullptr).profile == "ascend910b");
  CHECK(choose("npu-caching", Soc::ascend950, nullptr).profile == "ascend950");
  CHECK(choose("cuda-caching", Soc::ascend910b, nullptr).profile == "a100");
  CHECK(choose("cuda-caching", Soc::ascend910b, find_known_device("h100")).profile == "h100");
}

TEST_CASE("an allocator is not priced by a device on which it does not run", "[pricing]") {
  CHECK_THROWS_WITH(choose("npu-caching", Soc::ascend910b, find_known_device("a100")),
                    "--profile: npu-caching does not run on a100; choose one of ascend910b, "
                    "ascend910c, ascend950");
}

TEST_CASE("a price of the user's own leaves the others, and that the call waits", "[pricing]") {
  const KnownDevice& a100 = *find_known_device("a100");
  const Pricing pricing = choose("cuda-caching",
                                 Soc::ascend910b,
                                 nullptr,
                                 {{.call = DeviceCall::segment_free, .price = {.fixed_us = 7}}});
  CHECK(pricing.prices[DeviceCall::segment_free].fixed_us == 7);
  CHECK(pricing.prices[DeviceCall::segment_free].us_per_mib == 0);
  CHECK(pricing.prices[DeviceCall::segment_free].waits == CallWaits::yes);
  CHECK(pricing.prices[DeviceCall::segment_alloc] == a100.prices[DeviceCall::segment_alloc]);
  CHECK(describe(pricing) == "a100, 1 price of your own");
}

TEST_CASE("a guess stays one until the last price is replaced", "[pricing]") {
  std::vector<PriceOverride> overrides;
  for (const DeviceCallName& name : device_call_names()) {
    CHECK(choose("npu-caching", Soc::ascend910b, nullptr, overrides).is_guess());
    overrides.push_back({.call = name.call, .price = {.fixed_us = 1}});
  }
  CHECK(describe(choose("npu-caching", Soc::ascend910b, nullptr)) == "ascend910b (a guess)");
  CHECK(describe(choose("npu-caching", Soc::ascend910b, nullptr, overrides)) ==
        "ascend910b, 12 prices of your own");
}

}  // namespace
}  // namespace fragcast
