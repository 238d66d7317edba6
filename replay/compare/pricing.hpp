#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "policies/registry.hpp"
#include "replay/formats/price_file.hpp"
#include "sim/device/prices.hpp"

namespace fragcast {

/// The prices that the device calls of a comparison are estimated with.
struct Pricing {
  /// A name of known_devices().
  std::string profile;
  PriceList prices;
  /// How many of them the user put in the profile's place.
  std::int64_t overridden = 0;
  /// Of the profile's, unless the user replaced them all.
  PriceBasis basis = PriceBasis::guess;

  [[nodiscard]] bool is_guess() const { return basis == PriceBasis::guess; }
};

/// The prices of `profile` or, without one, of the model's usual device, with the user's own.
/// Throws InputError if the profile is a device that the model's allocator does not run on.
[[nodiscard]] Pricing choose_prices(const ModelEntry& model,
                                    Soc soc,
                                    const KnownDevice* profile,
                                    std::span<const PriceOverride> overrides);

/// For people: "ascend910b (a guess)", "a100, 2 prices of your own".
[[nodiscard]] std::string describe(const Pricing& pricing);

}  // namespace fragcast
