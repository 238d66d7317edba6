#pragma once

#include <array>
#include <cstdint>

#include "sim/heap/heap.hpp"

namespace fragcast {

/// What a walk over a heap counts from scratch, for one kind of pool.
struct HeapTotals {
  Bytes reserved;
  Bytes allocated;
  /// Allocated, or freed and not yet free.
  Bytes active;
  /// Requested bytes of active blocks.
  Bytes requested;
  std::int64_t allocations = 0;
  std::int64_t active_blocks = 0;
  /// Plain segments.
  std::int64_t segments = 0;
  /// Free blocks with neighbours, those of expandable ranges left out.
  std::int64_t inactive_split_blocks = 0;
  Bytes inactive_split;
  /// Blocks that are in an index of free, or of unmapped, blocks.
  std::int64_t indexed = 0;
};

/// Walks the heap and checks every invariant that its shape must satisfy, throwing InvariantError
/// for the first that fails: blocks tile their segments and link both ways, no two idle neighbours
/// are left unmerged, blocks that are in no index are in use, pages of ranges are mapped whole.
/// Returns the totals by PoolKind.
[[nodiscard]] std::array<HeapTotals, 2> check_heap(const Heap& heap);

}  // namespace fragcast
