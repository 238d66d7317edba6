#include <algorithm>
#include <iterator>
#include <utility>

#include "policies/caching/caching_allocator.hpp"

namespace fragcast {
namespace {

BlockState state_of(const Block& block, HeldBackShownAs held_back) {
  if (block.allocated) return BlockState::allocated;
  if (block.pending_events > 0) return BlockState::pending;
  if (block.uses.empty()) return BlockState::free;
  return held_back == HeldBackShownAs::pending ? BlockState::pending : BlockState::held_back;
}

BlockPicture picture(const Block& block, HeldBackShownAs held_back) {
  BlockPicture shown{.address = block.address,
                     .size = block.size,
                     .requested = block.requested,
                     .state = state_of(block, held_back),
                     .allocation = {}};
  if (shown.state != BlockState::free) shown.allocation = block.allocation;
  return shown;
}

/// An empty picture of the stretch of `segment` that begins with `first`.
SegmentPicture begin_stretch(const Segment& segment, const Block& first, FlushRule flush) {
  SegmentPicture stretch{.address = first.address,
                         .size = Bytes{0},
                         .stream = segment.stream,
                         .kind = segment.pool->kind,
                         .pool = segment.pool->owner,
                         .range = {},
                         .page_size = segment.page_size,
                         .flush = flush,
                         .blocks = {}};
  if (segment.expandable()) stretch.range = segment.extent();
  return stretch;
}

}  // namespace

FlushRule CachingAllocator::flush_rule(const Pool& pool) const {
  const PrivatePool* owner = pools_.find(pool.owner);
  const bool passes_over = owner != nullptr ? !owner->freeable() : events_paused();
  return passes_over ? FlushRule::passes_over : FlushRule::returns;
}

Layout CachingAllocator::layout() const {
  Layout layout;
  for (const Segment& segment : heap_.segments()) {
    // One picture per run of mapped blocks: a plain segment is one run.
    const Block* before = nullptr;
    for (const Block* block = segment.first; block != nullptr; block = block->next) {
      if (block->mapped) {
        if (before == nullptr || !before->mapped) {
          layout.segments.push_back(begin_stretch(segment, *block, flush_rule(*segment.pool)));
        }
        SegmentPicture& stretch = layout.segments.back();
        stretch.size += block->size;
        stretch.blocks.push_back(picture(*block, rules_.held_back_shown_as));
      }
      before = block;
    }
  }
  std::sort(layout.segments.begin(),
            layout.segments.end(),
            [](const SegmentPicture& a, const SegmentPicture& b) {
              return std::pair{a.address, a.stream} < std::pair{b.address, b.stream};
            });
  return layout;
}

AllocatorModel::CacheInfo CachingAllocator::cache_info() const {
  CacheInfo info;
  pools_.for_each([&](const Pool& pool) {
    pool.free.for_each([&](const Block& block) {
      info.cached += block.size;
      info.largest = std::max(info.largest, block.size);
    });
  });
  return info;
}

}  // namespace fragcast
