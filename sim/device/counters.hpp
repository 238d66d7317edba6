#pragma once

#include <cstdint>

#include "sim/core/bytes.hpp"

namespace fragcast {

/// How often each call reached the device, and about how much memory. `maps`, `unmaps` and
/// `pages_*` count pages.
struct DeviceCounters {
  std::int64_t segments_allocated = 0;
  std::int64_t segments_freed = 0;
  std::int64_t pages_created = 0;
  std::int64_t pages_destroyed = 0;
  std::int64_t maps = 0;
  std::int64_t unmaps = 0;
  std::int64_t ranges_reserved = 0;
  std::int64_t ranges_released = 0;
  std::int64_t device_syncs = 0;
  std::int64_t stream_syncs = 0;
  std::int64_t event_syncs = 0;
  std::int64_t events_recorded = 0;
  std::int64_t event_queries = 0;
  Bytes segment_bytes_allocated;
  Bytes segment_bytes_freed;
  Bytes page_bytes_created;
  Bytes page_bytes_destroyed;
  Bytes bytes_mapped;
  Bytes bytes_unmapped;
  /// Of the maps and unmaps, those of pages of 1 GiB: one entry of the page table each.
  std::int64_t gigabyte_maps = 0;
  std::int64_t gigabyte_unmaps = 0;
  bool operator==(const DeviceCounters&) const = default;
};

}  // namespace fragcast
