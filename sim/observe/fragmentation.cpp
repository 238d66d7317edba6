#include "sim/observe/fragmentation.hpp"

#include <algorithm>

namespace fragcast {
namespace {

/// The whole pages inside a block of an expandable range, in bytes. Pages are counted from the
/// base of the range.
///
///     base │ page │ page │ page │
///             [. block      ]         one whole page
Bytes whole_pages(const BlockPicture& block, const SegmentPicture& segment) {
  const Bytes begin = block.address - segment.range->begin;
  const Bytes first = round_up(begin, segment.page_size);
  const Bytes last = round_down(begin + block.size, segment.page_size);
  return std::max(last - first, Bytes{0});
}

bool is_free(const BlockPicture& block) { return block.state == BlockState::free; }

Bytes free_bytes(const SegmentPicture& segment) {
  Bytes sum;
  for (const BlockPicture& block : segment.blocks) {
    if (is_free(block)) sum += block.size;
  }
  return sum;
}

}  // namespace

Bytes releasable_bytes(const SegmentPicture& segment) {
  if (segment.flush == FlushRule::passes_over) return Bytes{0};
  if (!segment.expandable()) {
    const bool all_free = std::all_of(segment.blocks.begin(), segment.blocks.end(), is_free);
    return all_free ? segment.size : Bytes{0};
  }
  Bytes sum;
  for (const BlockPicture& block : segment.blocks) {
    if (is_free(block)) sum += whole_pages(block, segment);
  }
  return sum;
}

Fragmentation measure_fragmentation(const Layout& heap) {
  Fragmentation result;
  for (const SegmentPicture& segment : heap.segments) {
    for (const BlockPicture& block : segment.blocks) {
      switch (block.state) {
        case BlockState::allocated:
          result.requested += block.requested;
          result.rounding += block.size - block.requested;
          break;
        case BlockState::pending:
        case BlockState::held_back:
          result.pending += block.size;
          break;
        case BlockState::free:
          result.largest_free = std::max(result.largest_free, block.size);
          break;
      }
    }
    const Bytes releasable = releasable_bytes(segment);
    result.releasable += releasable;
    result.pinned += free_bytes(segment) - releasable;
  }
  return result;
}

}  // namespace fragcast
