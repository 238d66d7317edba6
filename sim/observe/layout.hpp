#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/core/address.hpp"
#include "sim/core/bytes.hpp"
#include "sim/core/strong_id.hpp"
#include "sim/observe/statistics.hpp"

namespace fragcast {

enum class BlockState : std::uint8_t {
  allocated,  ///< in use
  pending,    ///< freed by its user, waiting for events
  free,
  /// Freed during a graph capture and kept back: unusable, yet snapshots call it inactive.
  held_back,
};

/// One block, as a plain value.
struct BlockPicture {
  Address address;
  Bytes size;
  /// Of free blocks: stale, its last user's.
  Bytes requested;
  BlockState state = BlockState::free;
  /// Whose it is, if allocated or pending.
  std::optional<AllocationId> allocation;
  bool operator==(const BlockPicture&) const = default;
};

/// Whether a flush may return a segment's free memory to the device.
enum class FlushRule : std::uint8_t {
  returns,
  passes_over,  ///< a private pool in use, or a default pool during a graph capture
};

/// One segment or, of an expandable range, one mapped stretch. Its blocks tile it.
struct SegmentPicture {
  Address address;
  Bytes size;
  StreamId stream;
  PoolKind kind = PoolKind::large;
  /// PoolId{} for the default pools.
  PoolId pool;
  /// Expandable only: the whole reserved range it lies in, and the size of a page.
  std::optional<Extent> range;
  Bytes page_size;
  FlushRule flush = FlushRule::returns;
  std::vector<BlockPicture> blocks;

  [[nodiscard]] bool expandable() const { return range.has_value(); }
  [[nodiscard]] Extent extent() const { return {address, size}; }
  bool operator==(const SegmentPicture&) const = default;
};

/// A picture of a heap at one moment: plain data, sorted by address. What models show, and what a
/// model can be started from.
struct Layout {
  std::vector<SegmentPicture> segments;
  [[nodiscard]] bool empty() const { return segments.empty(); }
  bool operator==(const Layout&) const = default;
};

}  // namespace fragcast
