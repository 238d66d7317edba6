#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "sim/core/bytes.hpp"

namespace fragcast {

/// The settings of a caching allocator that bear on device memory, as the allocator holds them
/// after reading its environment variable. Two equal values behave alike, however they were spelt.
struct AllocatorSettings {
  bool expandable_segments = false;
  Bytes max_split_size = Bytes::unlimited();
  /// 0 means off.
  double garbage_collection_threshold = 0.0;
  Bytes max_non_split_rounding = 20_MiB;
  /// Segment for rounded sizes in (1 MiB, 10 MiB), and page of a large expandable range.
  Bytes large_segment_size = 20_MiB;
  /// Page of a large expandable range where `large_segment_size` was not set (deprecated key).
  std::optional<Bytes> segment_size;
  /// `page_size:1g`: the large pool takes memory in units of 1 GiB.
  bool gigabyte_pages = false;
  Bytes base_address_alignment = 16_KiB;
  /// Divisions between two powers of two, by interval log2(size in MiB) clamped to 0..15; 0 is off.
  std::array<std::uint32_t, 16> roundup_power2_divisions{};
  double per_process_memory_fraction = 1.0;
  bool multi_stream_lazy_reclaim = false;
  bool throw_on_oom = false;

  bool operator==(const AllocatorSettings&) const = default;
};

}  // namespace fragcast
