#include <fmt/format.h>

#include <map>
#include <utility>

#include "policies/caching/caching_allocator.hpp"
#include "policies/caching/sizes.hpp"
#include "sim/core/check.hpp"

namespace fragcast {
namespace {

/// Blocks must tile their stretch, and live ones must say whose they are.
ControlRefusal problem_with(const SegmentPicture& stretch) {
  Address at = stretch.address;
  for (const BlockPicture& block : stretch.blocks) {
    if (block.address != at || block.size <= Bytes{0}) {
      return fmt::format("the blocks of the segment at {:#x} do not tile it",
                         stretch.address.value());
    }
    if (block.state != BlockState::free && !block.allocation) {
      return fmt::format("the block at {:#x} is in use by nobody", block.address.value());
    }
    at = block.address + block.size;
  }
  if (at != stretch.extent().end()) {
    return fmt::format("the blocks of the segment at {:#x} do not tile it",
                       stretch.address.value());
  }
  return {};
}

/// Pages must lie in their range, on its grid.
ControlRefusal problem_with_pages(const SegmentPicture& stretch) {
  const Extent range = *stretch.range;
  const Bytes page = stretch.page_size;
  const bool inside = range.begin <= stretch.address && stretch.extent().end() <= range.end();
  if (page > Bytes{0} && inside && (stretch.address - range.begin) % page == Bytes{0} &&
      stretch.size % page == Bytes{0} && range.size % page == Bytes{0}) {
    return {};
  }
  return fmt::format("the mapped stretch at {:#x} does not lie on the pages of its range",
                     stretch.address.value());
}

/// A block that is cut up from its front.
class Remainder {
 public:
  Remainder(Heap& heap, Block& whole) : heap_{heap}, rest_{&whole} {}

  /// The first `size` bytes of what is left.
  Block& cut(Bytes size) {
    FRAGCAST_CHECK(rest_ != nullptr && Bytes{0} < size && size <= rest_->size,
                   "a heap to be restored has more blocks than room");
    Block& whole = *rest_;
    if (whole.size > size) return heap_.split_front(whole, size);
    rest_ = nullptr;
    return whole;
  }
  /// Null when all is cut.
  [[nodiscard]] Block* left() const { return rest_; }

 private:
  Heap& heap_;
  Block* rest_;
};

}  // namespace

ControlRefusal CachingAllocator::do_restore(const Layout& heap) {
  FRAGCAST_CHECK(heap_.segments().empty(), "a heap is restored before anything else");
  std::map<std::pair<Address, StreamId>, std::vector<const SegmentPicture*>> ranges;
  for (const SegmentPicture& stretch : heap.segments) {
    ControlRefusal problem = problem_with(stretch);
    if (problem.empty() && stretch.expandable()) problem = problem_with_pages(stretch);
    if (!problem.empty()) return problem;
    if (stretch.expandable()) ranges[{stretch.range->begin, stretch.stream}].push_back(&stretch);
  }
  for (const SegmentPicture& segment : heap.segments) {
    if (!segment.expandable()) restore_segment(segment);
  }
  for (const auto& [key, stretches] : ranges) restore_range(stretches);
  return {};
}

Pool& CachingAllocator::pool_for_restore(const SegmentPicture& stretch) {
  if (stretch.pool == PoolId{}) return pools_.defaults().of(stretch.kind);
  // Whoever made the pool before the recording began still holds it.
  if (pools_.find(stretch.pool) == nullptr) {
    FRAGCAST_CHECK(pools_.add_reference(stretch.pool), "a pool that is not there can be made");
  }
  return pools_.find(stretch.pool)->pools.of(stretch.kind);
}

void CachingAllocator::restore_segment(const SegmentPicture& segment) {
  Pool& pool = pool_for_restore(segment);
  Block& whole = heap_.add_segment(segment.extent(), segment.stream, pool);
  device_.adopt(segment.extent(), round_up(segment.size, segment_unit(pool.kind, settings_)));
  ledger().segment_allocated(reservation(whole, segment.extent()));
  if (segment.size >= settings_.max_split_size) ledger().counters().oversize_segments.increase(1);
  restore_blocks(whole, segment);
}

void CachingAllocator::restore_range(const std::vector<const SegmentPicture*>& stretches) {
  const SegmentPicture& any = *stretches.front();
  Pool& pool = pool_for_restore(any);
  Block& range = heap_.add_segment(*any.range, any.stream, pool, any.page_size);
  range.mapped = false;
  Remainder rest{heap_, range};
  Address at = any.range->begin;
  Bytes charge;
  for (const SegmentPicture* stretch : stretches) {
    if (stretch->address > at) heap_.put_unmapped(rest.cut(stretch->address - at));
    at = stretch->extent().end();
    Block& mapped = rest.cut(stretch->size);
    mapped.mapped = true;
    const std::int64_t pages = stretch->size / any.page_size;
    pool.mapped_pages += pages;
    charge += pages * round_up(any.page_size, device_.profile().granularity);
    ledger().mapped(reservation(mapped, stretch->extent()));
    restore_blocks(mapped, *stretch);
  }
  device_.adopt(*any.range, charge);
  if (rest.left() != nullptr) heap_.put_unmapped(*rest.left());
}

void CachingAllocator::restore_blocks(Block& whole, const SegmentPicture& stretch) {
  Remainder rest{heap_, whole};
  for (const BlockPicture& picture : stretch.blocks) {
    Block& block = rest.cut(picture.size);
    block.requested = picture.requested;
    if (picture.state == BlockState::free) {
      heap_.put_free(block);
      if (!block.segment->expandable() && picture.size < stretch.size) {
        ledger().inactive_split_changed(stretch.kind, 1, block.size);
      }
      continue;
    }
    block.allocated = true;
    block.allocation = *picture.allocation;
    blocks_[block.allocation] = &block;
    ledger().allocated(facts(block));
    if (block.size >= settings_.max_split_size)
      ledger().counters().oversize_allocations.increase(1);
  }
}

}  // namespace fragcast
