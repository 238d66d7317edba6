#pragma once

#include "policies/caching/settings.hpp"
#include "sim/core/bytes.hpp"
#include "sim/observe/statistics.hpp"

namespace fragcast {

/// Sizes that the allocators of the family have built in (their names in the source beside them).
namespace sizes {
inline constexpr Bytes min_block = 512_B;         // kMinBlockSize
inline constexpr Bytes small_request = 1_MiB;     // kSmallSize
inline constexpr Bytes small_segment = 2_MiB;     // kSmallBuffer
inline constexpr Bytes large_segment = 20_MiB;    // kLargeBuffer
inline constexpr Bytes own_segment = 10_MiB;      // kMinLargeAlloc
inline constexpr Bytes segment_rounding = 2_MiB;  // kRoundLarge
inline constexpr Bytes huge_page = 1_GiB;         // kExtraLargeBuffer
}  // namespace sizes

/// What a block for a request of `size` bytes must hold: padded, then rounded to 512 bytes or, with
/// `roundup_power2_divisions`, to a division between powers of two.
[[nodiscard]] Bytes round_size(Bytes size, Bytes padding, const AllocatorSettings& settings);

/// The pool that serves a rounded size.
[[nodiscard]] constexpr PoolKind pool_kind(Bytes rounded) {
  return rounded <= sizes::small_request ? PoolKind::small : PoolKind::large;
}

/// The segment that is asked of the device for a rounded size.
[[nodiscard]] Bytes segment_size(Bytes rounded, const AllocatorSettings& settings);

/// The page of an expandable range.
[[nodiscard]] Bytes page_size(PoolKind kind, const AllocatorSettings& settings);

/// What segments are charged and aligned in, beyond the device's own granularity.
[[nodiscard]] Bytes segment_unit(PoolKind kind, const AllocatorSettings& settings);

}  // namespace fragcast
