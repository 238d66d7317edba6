#include "sim/heap/heap.hpp"

#include "sim/core/check.hpp"

namespace fragcast {
namespace {

/// Whether `block` may take `neighbour` in: idle, and memory or the lack of it on both sides.
bool can_absorb(const Block& block, const Block* neighbour) {
  return neighbour != nullptr && neighbour->mapped == block.mapped && neighbour->is_idle();
}

}  // namespace

Block& Heap::new_block(Segment& segment, Extent extent) {
  Block& block = blocks_.acquire();
  block.address = extent.begin;
  block.size = extent.size;
  block.segment = &segment;
  return block;
}

void Heap::release(Block& block) {
  // Field by field rather than a fresh Block: `uses` keeps its capacity, and the hook is unlinked.
  block.requested = Bytes{0};
  block.previous = nullptr;
  block.next = nullptr;
  block.segment = nullptr;
  block.allocation = AllocationId{};
  block.uses.clear();
  block.pending_events = 0;
  block.allocated = false;
  block.mapped = true;
  block.free_since = 0;
  blocks_.release(block);
}

Block& Heap::add_segment(Extent extent, StreamId stream, Pool& pool, Bytes page_size) {
  Segment& segment = segment_store_.acquire();
  segment.base = extent.begin;
  segment.size = extent.size;
  segment.stream = stream;
  segment.pool = &pool;
  segment.page_size = page_size;
  Block& block = new_block(segment, extent);
  segment.first = &block;
  segments_.push_back(segment);
  if (!segment.expandable()) ++pool.segments;
  return block;
}

void Heap::remove_segment(Block& only_block) {
  Segment& segment = *only_block.segment;
  FRAGCAST_CHECK(!only_block.is_split(), "a segment with several blocks cannot be removed");
  if (!segment.expandable()) --segment.pool->segments;
  release(only_block);
  segments_.erase(segments_.iterator_to(segment));
  segment.first = nullptr;
  segment_store_.release(segment);
}

Block& Heap::split_front(Block& block, Bytes size) {
  Block& front = new_block(*block.segment, {block.address, size});
  front.mapped = block.mapped;
  front.previous = block.previous;
  front.next = &block;
  if (front.previous != nullptr) {
    front.previous->next = &front;
  } else {
    block.segment->first = &front;
  }
  block.previous = &front;
  block.address = block.address + size;
  block.size -= size;
  return front;
}

Block& Heap::split_back(Block& block, Bytes size) {
  Block& back = new_block(*block.segment, {block.address + size, block.size - size});
  back.mapped = block.mapped;
  back.previous = &block;
  back.next = block.next;
  if (back.next != nullptr) back.next->previous = &back;
  block.next = &back;
  block.size = size;
  return back;
}

Bytes Heap::merge_previous(Block& block) {
  Block* previous = block.previous;
  if (!can_absorb(block, previous)) return Bytes{0};
  block.address = previous->address;
  block.previous = previous->previous;
  if (block.previous != nullptr) {
    block.previous->next = &block;
  } else {
    block.segment->first = &block;
  }
  return absorb(block, *previous);
}

Bytes Heap::merge_next(Block& block) {
  Block* next = block.next;
  if (!can_absorb(block, next)) return Bytes{0};
  block.next = next->next;
  if (block.next != nullptr) block.next->previous = &block;
  return absorb(block, *next);
}

Bytes Heap::absorb(Block& block, Block& absorbed) {
  const Bytes size = absorbed.size;
  if (absorbed.mapped) {
    take_free(absorbed);
  } else {
    take_unmapped(absorbed);
  }
  block.size += size;
  release(absorbed);
  return size;
}

}  // namespace fragcast
