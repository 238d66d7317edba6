#include "replay/compare/pricing.hpp"

#include <fmt/format.h>

#include "replay/engine/run_spec.hpp"
#include "replay/formats/input_error.hpp"
#include "sim/core/check.hpp"

namespace fragcast {
namespace {

DeviceRuntime runtime_of(Vendor vendor) {
  switch (vendor) {
    case Vendor::npu:
      return DeviceRuntime::ascend;
    case Vendor::cuda:
      return DeviceRuntime::cuda;
  }
  return {};
}

const KnownDevice& usual_device(Vendor vendor, Soc soc) {
  // Chips have the names of their devices.
  const KnownDevice* device =
      find_known_device(vendor == Vendor::npu ? name_of(soc) : std::string_view{"a100"});
  FRAGCAST_CHECK(device != nullptr, "an allocator runs on a device without prices");
  return *device;
}

std::string profiles_for(DeviceRuntime runtime) {
  std::string names;
  for (const KnownDevice& device : known_devices()) {
    if (device.runtime != runtime) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", device.name);
  }
  return names;
}

}  // namespace

Pricing choose_prices(const ModelEntry& model,
                      Soc soc,
                      const KnownDevice* profile,
                      std::span<const PriceOverride> overrides) {
  const KnownDevice& device = profile != nullptr ? *profile : usual_device(model.vendor, soc);
  const DeviceRuntime runtime = runtime_of(model.vendor);
  if (device.runtime != runtime) {
    throw InputError{{.file = "--profile", .line = {}, .byte = {}},
                     fmt::format("{} does not run on {}; choose one of {}",
                                 model.name,
                                 device.name,
                                 profiles_for(runtime))};
  }
  Pricing pricing{.profile = std::string{device.name},
                  .prices = device.prices,
                  .overridden = static_cast<std::int64_t>(overrides.size()),
                  .basis = device.basis};
  for (const auto& [call, price] : overrides) {
    const CallWaits waits = pricing.prices[call].waits;
    pricing.prices[call] = price;
    pricing.prices[call].waits = waits;
  }
  if (overrides.size() == device_call_kinds) pricing.basis = PriceBasis::sources;
  return pricing;
}

std::string describe(const Pricing& pricing) {
  std::string text = pricing.profile;
  if (pricing.overridden > 0) {
    text += fmt::format(
        ", {} price{} of your own", pricing.overridden, pricing.overridden == 1 ? "" : "s");
  }
  if (pricing.is_guess()) text += " (a guess)";
  return text;
}

}  // namespace fragcast
