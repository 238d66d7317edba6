#include "policies/caching/sizes.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace fragcast {
namespace {

/// The divisions that apply to a padded size: its interval is log2 in MiB, clamped to the table.
std::uint32_t divisions_for(Bytes padded, const AllocatorSettings& settings) {
  const auto log2 =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(padded.count()))) - 1;
  const int last = static_cast<int>(settings.roundup_power2_divisions.size()) - 1;
  return settings
      .roundup_power2_divisions[static_cast<std::size_t>(std::clamp(log2 - 20, 0, last))];
}

/// Up to the next of `divisions` (a power of two) equal steps between the powers of two around it.
Bytes round_to_division(Bytes padded, std::uint32_t divisions) {
  const auto size = static_cast<std::uint64_t>(padded.count());
  if (std::has_single_bit(size)) return padded;
  const std::uint64_t floor = std::bit_floor(size);
  const std::uint64_t step = floor >> (std::bit_width(divisions) - 1);
  // Steps of no width: upstream gives the next power of two (roundup_power2_next_division).
  if (step == 0) return Bytes{static_cast<std::int64_t>(floor << 1)};
  return round_up(padded, Bytes{static_cast<std::int64_t>(step)});
}

bool uses_huge_pages(PoolKind kind, const AllocatorSettings& settings) {
  return settings.gigabyte_pages && kind == PoolKind::large;
}

}  // namespace

Bytes round_size(Bytes size, Bytes padding, const AllocatorSettings& settings) {
  const Bytes padded = size + padding;
  if (padded < sizes::min_block) return sizes::min_block;
  const std::uint32_t divisions = divisions_for(padded, settings);
  if (divisions > 1 && padded > sizes::min_block * divisions) {
    return round_to_division(padded, divisions);
  }
  return round_up(padded, sizes::min_block);
}

Bytes segment_size(Bytes rounded, const AllocatorSettings& settings) {
  const PoolKind kind = pool_kind(rounded);
  if (uses_huge_pages(kind, settings)) return round_up(rounded, sizes::huge_page);
  if (kind == PoolKind::small) return sizes::small_segment;
  if (rounded < sizes::own_segment) return settings.large_segment_size;
  return round_up(rounded, sizes::segment_rounding);
}

Bytes page_size(PoolKind kind, const AllocatorSettings& settings) {
  if (uses_huge_pages(kind, settings)) return sizes::huge_page;
  if (kind == PoolKind::small) return sizes::small_segment;
  // get_custom_expandable_segment_size: the deprecated key counts only while the new one is at its
  // default.
  if (settings.large_segment_size != sizes::large_segment) return settings.large_segment_size;
  return settings.segment_size.value_or(sizes::large_segment);
}

Bytes segment_unit(PoolKind kind, const AllocatorSettings& settings) {
  return uses_huge_pages(kind, settings) ? sizes::huge_page : sizes::segment_rounding;
}

}  // namespace fragcast
