#pragma once

#include <istream>
#include <string>
#include <vector>

#include "sim/device/prices.hpp"

namespace fragcast {

/// A price that takes the place of a profile's.
struct PriceOverride {
  DeviceCall call = DeviceCall::segment_alloc;
  Price price;
};

/// Reads prices, one a line: the call's name, microseconds for each, microseconds per MiB and,
/// where the price is not sure, by what it may have to be divided or multiplied:
///
///     segment_alloc  120  1.1          # measured on our cards
///     segment_free    50  0.9  2  3
///
/// What follows a # is skipped. Throws InputError at the first line that
/// cannot be read, or that prices a call again.
[[nodiscard]] std::vector<PriceOverride> read_price_file(const std::string& file);
/// The same from a stream; `file` is for messages.
[[nodiscard]] std::vector<PriceOverride> read_prices(std::istream& input, const std::string& file);

/// Such a file with all prices of a device.
[[nodiscard]] std::string price_file_of(const KnownDevice& device);

}  // namespace fragcast
