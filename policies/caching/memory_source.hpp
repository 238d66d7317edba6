#pragma once

#include "policies/caching/rules.hpp"
#include "policies/caching/settings.hpp"
#include "sim/device/device.hpp"
#include "sim/heap/heap.hpp"
#include "sim/observe/ledger.hpp"

namespace fragcast {

/// What becomes of the pages that an unmapping frees.
enum class FreedPages : std::uint8_t { to_device, to_cache };

/// Where a caching allocator gets its memory from and gives it back to: segments, and address
/// ranges that pages are mapped into. Keeps heap, device and ledger in step.
///
///     range   [ A ][ . ][ B    ][ unmapped ……………………………… ]     1 1/8 of the device
///     pages   |    |    |    |    |                              2 MiB small, 20 MiB large
class MemorySource {
 public:
  /// All must outlive the source; the settings are read at each call.
  MemorySource(const CachingRules& rules,
               const AllocatorSettings& settings,
               Device& device,
               Heap& heap,
               Ledger& ledger)
      : rules_{rules}, settings_{settings}, device_{device}, heap_{heap}, ledger_{ledger} {}

  /// What a source is asked for: memory of one pool and stream.
  struct Want {
    Pool& pool;
    StreamId stream;
    Bytes size;
  };

  /// A segment of exactly that size, as one block in no index; null if the device has no room.
  [[nodiscard]] Block* allocate_segment(const Want& want);
  /// Frees the segment of a free block that covers it.
  void release_segment(Block& block);

  /// try_allocate_expandable_block: a block, in no index, of at least that size, by mapping pages
  /// where a range has room. Null if the device runs out of pages; what was mapped until then
  /// stays, as free blocks.
  [[nodiscard]] Block* extend_range(const Want& want);
  /// unmap_block: unmaps the whole pages inside a free block of a range. What is left at either end
  /// stays free; a range that has come to hold nothing is given back.
  void unmap_inside(Block& block, FreedPages freed);
  /// Gives the device the pages that the pool keeps cached.
  void destroy_cached_pages(Pool& pool);

  /// To be called before segments are released, once for all of them.
  void wait_before_release();

 private:
  void wait_before_unmapping(StreamId stream);
  [[nodiscard]] Block& find_room(const Want& want);
  [[nodiscard]] bool map_front(Block& block, Bytes size);
  [[nodiscard]] bool obtain_pages(Pool& pool, std::int64_t count, Bytes page);

  const CachingRules& rules_;
  const AllocatorSettings& settings_;
  Device& device_;
  Heap& heap_;
  Ledger& ledger_;
};

/// The ledger's view of a block, and of a stretch of the segment that it lies in.
[[nodiscard]] inline BlockFacts facts(const Block& block) {
  const Segment& segment = *block.segment;
  return {.address = block.address,
          .size = block.size,
          .requested = block.requested,
          .stream = segment.stream,
          .kind = segment.pool->kind,
          .pool = segment.pool->owner};
}
[[nodiscard]] ReservationFacts reservation(const Block& block, Extent stretch);

}  // namespace fragcast
