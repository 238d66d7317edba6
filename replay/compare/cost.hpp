#pragma once

#include <cstdint>
#include <string>

#include "replay/engine/run.hpp"
#include "sim/device/prices.hpp"

namespace fragcast {

/// What the device calls of a run are estimated to take. Waiting is not in it: how long the device
/// has still to work when it is waited for is in no allocation trace, and no call's price.
struct CostEstimate {
  Microseconds low{};
  Microseconds mid{};
  Microseconds high{};
  /// How often the allocator waits for the device, a stream or an event, unseen waits of calls
  /// included; and what these synchronisations take where there is nothing to wait for, at mid.
  std::int64_t waits = 0;
  Microseconds idle_waits{};
};

[[nodiscard]] CostEstimate estimate(const RunCounts& counts, const PriceList& prices);

/// Whether one run costs less than another.
enum class Cheaper : std::uint8_t {
  yes,      ///< at low, mid and high prices, and it waits no more often
  no,       ///< at none of them, and it waits no less often
  unclear,  ///< it depends on the prices, or on how long a wait is
};
[[nodiscard]] Cheaper is_cheaper(const CostEstimate& a, const CostEstimate& b);

/// For people, three significant figures: "0 us", "12.3 ms", "1.50 s".
[[nodiscard]] std::string human_duration(Microseconds time);
/// The same with its range, in one unit: "12.3 ms (1.23..123)".
[[nodiscard]] std::string human_cost(const CostEstimate& cost);

}  // namespace fragcast
