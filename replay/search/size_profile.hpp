#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/trace/trace.hpp"
#include "sim/core/bytes.hpp"

namespace fragcast {

/// Requests that need blocks of one size.
struct SizeClass {
  Bytes block;
  std::int64_t requests = 0;
};

/// What of a trace's sizes says which settings are worth trying.
struct SizeProfile {
  /// Of the large pool, under default rounding, ascending; those that the trace began with
  /// included.
  std::vector<SizeClass> large;
  /// The most bytes ever live at once, as requested: no allocator holds less.
  Bytes live_peak;
  /// The same of requests that share segments: blocks from 1 to 10 MiB.
  Bytes shared_live_peak;
};

/// `padding` is added to every request before rounding.
[[nodiscard]] SizeProfile profile_sizes(const Trace& trace, Bytes padding);

/// Of two traces together. What is live at once is the larger of both.
[[nodiscard]] SizeProfile joined(const SizeProfile& a, const SizeProfile& b);

/// The size below which a share, 0..1, of all bytes asked for lies, for each of `shares`. None
/// where there are no large sizes.
[[nodiscard]] std::vector<Bytes> byte_quantiles(const SizeProfile& profile,
                                                const std::vector<double>& shares);

/// The sizes above the widest gaps between neighbouring sizes, at most `count`, ascending. A gap
/// counts by how far apart the two are, in powers of two, times the bytes asked for on the side
/// that has less: a wide gap below one odd size tells little.
[[nodiscard]] std::vector<Bytes> sizes_above_gaps(const SizeProfile& profile, std::size_t count);

}  // namespace fragcast
