#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "replay/trace/address_map.hpp"
#include "sim/core/address.hpp"
#include "sim/observe/statistics.hpp"

namespace fragcast {

/// A segment or, of an expandable range, one mapped stretch, as entries tell of it.
struct Stretch {
  Extent extent;
  StreamId stream;
  /// PoolId{} for the default pools.
  PoolId pool;
  /// Absent where no entry says: memory that was mapped before the history and unmapped in it.
  std::optional<PoolKind> kind;
  bool expandable = false;
  /// Blocks that start in it; kept by whoever follows the blocks.
  std::uint32_t blocks = 0;

  [[nodiscard]] BlockKey key() const { return {.stream = stream, .address = extent.begin}; }
};

/// The memory that an allocator holds, followed through a history forwards or backwards. Stretches
/// of one stream never overlap; mapped stretches of one range grow together where they touch.
///
///     add      |-------|             |---|        take      |--|
///                      └ touching: one stretch         |---|    |---|
class ReservedMemory {
 public:
  /// Adds memory; false, and nothing done, if some of it is already there.
  bool add(const Stretch& stretch);

  /// Takes [begin, end) of one stream out, cutting what reaches beyond. Returns the stretch it was
  /// in, as it was; nothing, with whatever was there taken all the same, if it was not wholly in
  /// one.
  std::optional<Stretch> take(StreamId stream, Extent extent);

  /// The stretch in which the address lies, or null.
  [[nodiscard]] Stretch* find(BlockKey at);
  [[nodiscard]] const Stretch* find(BlockKey at) const;

  /// A block was placed at `at`, or left it.
  void block_begins(BlockKey at);
  void block_ends(BlockKey at);

  [[nodiscard]] Bytes total() const { return total_; }
  /// Segments (not mapped stretches) of the default pools in which no block lies: what a flush
  /// would give back.
  [[nodiscard]] std::size_t idle_segments() const { return idle_; }

  /// In order of stream, then address.
  [[nodiscard]] const std::map<BlockKey, Stretch>& stretches() const { return stretches_; }
  [[nodiscard]] std::map<BlockKey, Stretch>& stretches() { return stretches_; }

 private:
  static bool counts_as_idle(const Stretch& s) {
    return s.blocks == 0 && !s.expandable && s.pool == PoolId{};
  }
  void insert(const Stretch& stretch);
  void erase(std::map<BlockKey, Stretch>::iterator stretch);

  std::map<BlockKey, Stretch> stretches_;
  Bytes total_;
  std::size_t idle_ = 0;
};

}  // namespace fragcast
