#pragma once

#include <iosfwd>
#include <span>

#include "replay/compare/comparison.hpp"

namespace fragcast {

/// Writes how memory went over time, in bytes, as CSV (RFC 4180, but for plain line ends):
///
///     run,event,requested,allocated,active,reserved
///     default,0,512,1024,1024,2097152
///
/// For each run that kept its series a row per entry of the device's history (or call of the
/// script) that asks something of the allocator: its index, and the amounts behind it. If there are
/// several devices, runs are named `DEVICE: NAME`.
void write_series_csv(std::span<const Comparison> comparisons, std::ostream& output);

}  // namespace fragcast
