#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policies/allocator_model.hpp"
#include "policies/caching/memory_source.hpp"
#include "policies/caching/pending_frees.hpp"
#include "policies/caching/pool_set.hpp"
#include "policies/caching/rules.hpp"
#include "policies/caching/settings.hpp"
#include "sim/device/device.hpp"
#include "sim/heap/heap.hpp"

namespace fragcast {

/// The caching allocator of PyTorch's family, as the NPU and the CUDA allocator share it; what
/// differs is in CachingRules. Source: Ascend/pytorch 9e73e708,
/// torch_npu/csrc/core/npu/NPUCachingAllocator.cpp; function names below are its.
///
/// A request is rounded and goes to the small or the large pool. The best-fitting free block of its
/// stream serves it, and what is left over is split off. If none fits, the device is asked for a
/// segment or, with expandable segments, for pages that extend an address range. If the device (or
/// a limit) refuses, memory is taken back in ever harder ways, and the device asked again:
///
///     take a free block ─▶ collect garbage, grow ─▶ overflow pools ─▶ release oversize, grow
///          ─▶ flush everything, grow ─▶ out of memory
///
/// A freed block merges with free neighbours and stays cached. One that other streams use waits for
/// their events first.
/// Left out: inter-process sharing, checkpoints of private pools, pinned host memory, HCCL's
/// registered ranges, the workspace allocator.
class CachingAllocator final : public AllocatorModel {
 public:
  /// `device` must outlive the allocator.
  CachingAllocator(const CachingRules& rules, const AllocatorSettings& settings, Device& device);

  [[nodiscard]] Layout layout() const override;
  [[nodiscard]] CacheInfo cache_info() const override;
  [[nodiscard]] Bytes block_size(Bytes requested) const override;
  [[nodiscard]] Bytes largest_request(Bytes rounded) const override;
  void check() const override;

 private:
  /// One request under way.
  struct Search {
    Bytes requested;
    Bytes rounded;  ///< what the block must hold
    Bytes segment;  ///< what the device would be asked for
    StreamId stream;
    Pool* pool = nullptr;
    bool rejected = false;  ///< before the device was asked: no retry will help
  };

  AllocateOutcome do_allocate(const AllocateRequest& request) override;
  void do_deallocate(AllocationId id) override;
  void do_record_stream(AllocationId id, StreamId stream) override;
  ControlRefusal do_apply(const Control& control) override;
  ControlRefusal do_restore(const Layout& heap) override;

  // Finding a block (caching_allocate.cpp).
  [[nodiscard]] Search begin_search(const AllocateRequest& request);
  /// get_free_block: the best fit, out of its index, or null.
  [[nodiscard]] Block* take_free_block(const Search& search);
  [[nodiscard]] FreeIndex::iterator best_fit(FreeIndex::Tree& blocks,
                                             const FreeIndex::iterator& first) const;
  /// The retry chain of malloc, where no free block fitted; null when out of memory.
  [[nodiscard]] Block* obtain_block(Search& search);
  /// alloc_block: a block of new memory, in no index; null if a limit or the device refuses.
  [[nodiscard]] Block* grow(Search& search);
  [[nodiscard]] Block* take_from_overflow_pools(Search& search);
  [[nodiscard]] Placement place(Block& found, const Search& search, AllocationId id);
  [[nodiscard]] Block& align_base(Block& block, const Search& search);
  [[nodiscard]] bool should_split(const Block& block, Bytes rounded) const;
  [[nodiscard]] OutOfMemory out_of_memory(const Search& search);

  // Taking memory back (caching_release.cpp).
  void collect_garbage();
  /// release_available_cached_blocks: whole oversize blocks; false if they do not add up.
  [[nodiscard]] bool release_oversize(const Search& search);
  /// release_cached_blocks for all pools.
  void flush(FreedPages pages);
  void empty_private_pool(PrivatePool& pool);
  void release_free_blocks(Pool& pool, FreedPages pages);
  void forget_if_bare(PrivatePool& pool);

  // Freeing (caching_free.cpp).
  void process_events();
  void queue_held_back();
  void queue_events(Block& block);
  void finish_free(Block& block);
  [[nodiscard]] bool events_paused() const;

  // Starting from a recorded heap (caching_restore.cpp).
  [[nodiscard]] Pool& pool_for_restore(const SegmentPicture& stretch);
  void restore_segment(const SegmentPicture& segment);
  /// All stretches of one range, by address.
  void restore_range(const std::vector<const SegmentPicture*>& stretches);
  void restore_blocks(Block& whole, const SegmentPicture& stretch);

  // The control calls (caching_allocator.cpp), one overload each.
  ControlRefusal carry_out(const control::EmptyCache& call);
  ControlRefusal carry_out(const control::EmptyVirtualAddressCache& call);
  ControlRefusal carry_out(const control::Synchronize& call);
  ControlRefusal carry_out(const control::EraseStream& call);
  ControlRefusal carry_out(const control::PoolCreate& call);
  ControlRefusal carry_out(const control::PoolBegin& call);
  ControlRefusal carry_out(const control::PoolEnd& call);
  ControlRefusal carry_out(const control::PoolRelease& call);
  ControlRefusal carry_out(const control::PoolEmpty& call);
  ControlRefusal carry_out(const control::PoolUseOnOom& call);
  ControlRefusal carry_out(const control::PoolNoSplit& call);
  ControlRefusal carry_out(const control::CaptureBegin& call);
  ControlRefusal carry_out(const control::CaptureEnd& call);
  ControlRefusal carry_out(const control::ChangeSettings& call);
  ControlRefusal carry_out(const control::SetFraction& call);
  ControlRefusal carry_out(const control::ResetPeak& call);
  ControlRefusal carry_out(const control::ResetAccumulated& call);
  [[nodiscard]] FlushRule flush_rule(const Pool& pool) const;

  // What check() looks into beyond the heap itself (caching_check.cpp).
  void check_indices(std::int64_t idle_blocks) const;
  void check_pending() const;
  void check_charges() const;

  [[nodiscard]] bool collects_garbage() const {
    return limit_ && settings_.garbage_collection_threshold > 0.0;
  }
  [[nodiscard]] Bytes held() const { return current_usage(statistics()).reserved; }

  CachingRules rules_;
  AllocatorSettings settings_;
  Device& device_;
  Heap heap_;
  MemorySource source_;
  PoolSet pools_;
  PendingFrees pending_;
  DenseMap<AllocationId, Block*> blocks_;
  /// Freed during a capture with streams recorded: events come when it is over.
  std::vector<Block*> held_back_;
  int captures_ = 0;
  std::optional<Bytes> limit_;
  /// Base alignment has cut a plain block: `inactive_split` adds up no more, as upstream.
  bool inactive_split_drifts_ = false;
  std::vector<Block*> scratch_;
};

}  // namespace fragcast
