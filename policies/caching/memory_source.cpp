#include "policies/caching/memory_source.hpp"

#include <algorithm>

#include "policies/caching/sizes.hpp"
#include "sim/core/check.hpp"

namespace fragcast {
namespace {

/// The address range of an expandable segment: 1 1/8 of the device, in whole pages, so that pages
/// unmapped early on can be put at the end.
Bytes range_size(Bytes device_total, Bytes page) {
  return round_up(device_total + Bytes{device_total.count() / 8}, page);
}

/// Whether free and unmapped neighbours from `block` on have room for `size`.
bool has_room(const Block* block, Bytes size) {
  Bytes room;
  while (room < size && block != nullptr && block->is_idle()) {
    room += block->size;
    block = block->next;
  }
  return room >= size;
}

}  // namespace

ReservationFacts reservation(const Block& block, Extent stretch) {
  const Segment& segment = *block.segment;
  return {.extent = stretch,
          .stream = segment.stream,
          .kind = segment.pool->kind,
          .pool = segment.pool->owner};
}

Block* MemorySource::allocate_segment(const Want& want) {
  const auto address = device_.allocate_segment(want.size, segment_unit(want.pool.kind, settings_));
  if (!address) return nullptr;
  Block& block = heap_.add_segment({*address, want.size}, want.stream, want.pool);
  ledger_.segment_allocated(reservation(block, block.extent()));
  if (block.size >= settings_.max_split_size) ledger_.counters().oversize_segments.increase(1);
  return &block;
}

Block* MemorySource::extend_range(const Want& want) {
  // From the candidate on, free and unmapped blocks have room: map what is unmapped, in order. Each
  // mapped stretch merges with the free block before it.
  Block* block = &find_room(want);
  if (!block->mapped && !map_front(*block, std::min(block->size, want.size))) return nullptr;
  while (block->size < want.size) {
    Block* next = block->next;
    FRAGCAST_CHECK(next != nullptr, "the candidate had room enough");
    if (!map_front(*next, std::min(want.size - block->size, next->size))) return nullptr;
    block = next;
  }
  heap_.take_free(*block);
  return block;
}

Block& MemorySource::find_room(const Want& want) {
  Pool& pool = want.pool;
  for (Block& unmapped : pool.unmapped.of(want.stream)) {
    // A free block right before the unmapped one can be part of the answer.
    Block* previous = unmapped.previous;
    Block& start = previous != nullptr && previous->is_idle() ? *previous : unmapped;
    if (has_room(&start, want.size)) return start;
  }
  const Bytes page = page_size(pool.kind, settings_);
  Bytes size = range_size(device_.total(), page);
  // A device that never runs out gives more than the total that it is said to have.
  if (device_.profile().capacity == Capacity::unlimited) {
    size = std::max(size, round_up(want.size, page));
  }
  const Address base =
      device_.reserve_range(size, {.stream = want.stream, .pool = pool.owner, .kind = pool.kind});
  Block& range = heap_.add_segment({base, size}, want.stream, pool, page);
  range.mapped = false;
  heap_.put_unmapped(range);
  return range;
}

bool MemorySource::obtain_pages(Pool& pool, std::int64_t count, Bytes page) {
  // A range made under other settings can have other pages than those cached last; the allocator
  // maps them all the same, and so does this model, in the sizes of the day.
  const std::int64_t cached = std::min(pool.cached_pages, count);
  pool.cached_pages -= cached;
  if (device_.create_pages(count - cached, page)) return true;
  // All pages got so far go back, those from the cache included (ExpandableSegment::map).
  device_.destroy_pages(cached, page);
  return false;
}

bool MemorySource::map_front(Block& block, Bytes size) {
  Segment& range = *block.segment;
  Pool& pool = *range.pool;
  const Bytes mapped = round_up(size, range.page_size);
  const std::int64_t pages = mapped / range.page_size;
  if (!obtain_pages(pool, pages, range.page_size)) return false;
  device_.map_pages(pages, range.page_size);
  pool.mapped_pages += pages;

  heap_.take_unmapped(block);
  if (mapped < block.size) heap_.put_unmapped(heap_.split_back(block, mapped));
  block.mapped = true;
  const Extent stretch{block.address, mapped};
  heap_.merge_previous(block);
  heap_.merge_next(block);
  heap_.put_free(block);
  ledger_.mapped(reservation(block, stretch));
  return true;
}

void MemorySource::wait_before_release() {
  switch (rules_.release_wait) {
    case ReleaseWait::device:
      device_.synchronize();
      return;
    case ReleaseWait::nothing:
      return;
  }
}

void MemorySource::wait_before_unmapping(StreamId stream) {
  switch (rules_.unmap_wait) {
    case UnmapWait::device:
      device_.synchronize();
      return;
    case UnmapWait::stream:
      device_.synchronize(stream);
      return;
  }
}

void MemorySource::release_segment(Block& block) {
  FRAGCAST_CHECK(!block.segment->expandable(), "an expandable range is unmapped, not freed");
  const PoolKind kind = block.segment->pool->kind;
  ledger_.segment_freed(reservation(block, block.extent()));
  device_.free_segment(block.extent(), segment_unit(kind, settings_));
  if (block.size >= settings_.max_split_size) ledger_.counters().oversize_segments.decrease(1);
  heap_.take_free(block);
  heap_.remove_segment(block);
}

void MemorySource::unmap_inside(Block& block, FreedPages freed) {
  Segment& range = *block.segment;
  Pool& pool = *range.pool;
  const Bytes page = range.page_size;
  const Bytes begin = round_up(block.address - range.base, page);
  const Bytes end = round_down(block.end() - range.base, page);
  if (begin >= end) return;
  const Extent stretch{range.base + begin, end - begin};
  const std::int64_t pages = stretch.size / page;

  wait_before_unmapping(range.stream);
  device_.unmap_pages(pages, page);
  pool.mapped_pages -= pages;
  if (freed == FreedPages::to_device) {
    device_.destroy_pages(pages, page);
  } else {
    pool.cached_pages += pages;
    pool.cached_page_size = page;
  }

  heap_.take_free(block);
  if (block.address < stretch.begin) {
    heap_.put_free(heap_.split_front(block, stretch.begin - block.address));
  }
  if (stretch.size < block.size) heap_.put_free(heap_.split_back(block, stretch.size));
  block.mapped = false;
  ledger_.unmapped(reservation(block, stretch));
  heap_.merge_previous(block);
  heap_.merge_next(block);
  if (block.is_split()) {
    heap_.put_unmapped(block);
  } else {
    device_.release_range(range.base);
    heap_.remove_segment(block);
  }
}

void MemorySource::destroy_cached_pages(Pool& pool) {
  if (pool.cached_pages == 0) return;
  device_.destroy_pages(pool.cached_pages, pool.cached_page_size);
  pool.cached_pages = 0;
}

}  // namespace fragcast
