#pragma once

#include <cstdint>

#include "sim/core/strong_id.hpp"
#include "sim/heap/block_index.hpp"
#include "sim/observe/statistics.hpp"

namespace fragcast {

/// The free memory of one kind, small or large, of the default pools or of one private pool.
struct Pool {
  PoolKind kind = PoolKind::large;
  /// PoolId{} for the default pools.
  PoolId owner;
  /// Free blocks with memory behind them.
  FreeIndex free;
  /// Stretches of expandable ranges without memory.
  UnmappedIndex unmapped;
  /// Physical pages kept after an unmapping, to be mapped again first.
  std::int64_t cached_pages = 0;
  Bytes cached_page_size;
  /// Searches that aged the free blocks: the clock of garbage collection.
  std::uint64_t searches = 0;
  /// Segments, and mapped pages of expandable ranges, that belong to the pool.
  std::int64_t segments = 0;
  std::int64_t mapped_pages = 0;
  /// Blocks are handed out whole.
  bool no_split = false;
};

}  // namespace fragcast
