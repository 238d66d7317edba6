#include "sim/heap/check_heap.hpp"

#include <fmt/format.h>

#include "sim/core/check.hpp"

namespace fragcast {
namespace {

std::string at(const Block& block) {
  return fmt::format("block at {:#x} of {} bytes", block.address.value(), block.size.count());
}

void check_links(const Segment& segment, const Block& block) {
  FRAGCAST_CHECK(block.segment == &segment, at(block) + " belongs to another segment");
  FRAGCAST_CHECK(block.size > Bytes{0}, at(block) + " is empty");
  FRAGCAST_CHECK(block.next == nullptr || block.next->previous == &block,
                 at(block) + " is not linked back by its neighbour");
  FRAGCAST_CHECK(block.next == nullptr || block.next->address == block.end(),
                 at(block) + " does not end where its neighbour begins");
  FRAGCAST_CHECK(block.next == nullptr || !block.is_idle() || !block.next->is_idle() ||
                     block.mapped != block.next->mapped,
                 at(block) + " and its neighbour are idle and not merged");
  FRAGCAST_CHECK(block.hook.is_linked() == block.is_idle(),
                 at(block) + " is idle and in no index, or in use and in one");
  FRAGCAST_CHECK(block.mapped || segment.expandable(), at(block) + " lies in memory never mapped");
  FRAGCAST_CHECK(block.mapped || block.is_idle(), at(block) + " is in use without memory");
}

void count(HeapTotals& totals, const Segment& segment, const Block& block) {
  if (block.hook.is_linked()) ++totals.indexed;
  if (!block.mapped) return;
  totals.reserved += block.size;
  if (block.is_idle()) {
    if (!segment.expandable() && block.is_split()) {
      ++totals.inactive_split_blocks;
      totals.inactive_split += block.size;
    }
    return;
  }
  ++totals.active_blocks;
  totals.active += block.size;
  totals.requested += block.requested;
  if (block.allocated) {
    ++totals.allocations;
    totals.allocated += block.size;
  }
}

/// Mapped stretches of a range begin and end on its pages.
void check_pages(const Segment& segment, const Block& block) {
  if (!segment.expandable() || block.next == nullptr || block.next->mapped == block.mapped) return;
  FRAGCAST_CHECK((block.end() - segment.base) % segment.page_size == Bytes{0},
                 at(block) + " ends its stretch inside a page");
}

}  // namespace

std::array<HeapTotals, 2> check_heap(const Heap& heap) {
  std::array<HeapTotals, 2> totals;
  std::size_t blocks = 0;
  for (const Segment& segment : heap.segments()) {
    HeapTotals& of_kind = totals[static_cast<std::size_t>(segment.pool->kind)];
    if (!segment.expandable()) ++of_kind.segments;
    const Block* first = segment.first;
    FRAGCAST_CHECK(first != nullptr && first->address == segment.base && first->previous == nullptr,
                   fmt::format("segment at {:#x} has no first block", segment.base.value()));
    Bytes covered;
    for (const Block* block = first; block != nullptr; block = block->next) {
      check_links(segment, *block);
      check_pages(segment, *block);
      count(of_kind, segment, *block);
      covered += block->size;
      ++blocks;
    }
    FRAGCAST_CHECK(
        covered == segment.size,
        fmt::format("segment at {:#x} is not covered by its blocks", segment.base.value()));
  }
  FRAGCAST_CHECK(blocks == heap.block_count(), "a block lies in no segment");
  return totals;
}

}  // namespace fragcast
