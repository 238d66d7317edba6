#include <fmt/format.h>

#include <unordered_map>

#include "policies/caching/caching_allocator.hpp"
#include "sim/core/check.hpp"
#include "sim/heap/check_heap.hpp"

namespace fragcast {
namespace {

void expect(std::string_view what, PoolKind kind, std::int64_t counted, std::int64_t kept) {
  FRAGCAST_CHECK(counted == kept,
                 fmt::format("{} of the {} pools is kept as {} but counts {}",
                             what,
                             kind == PoolKind::small ? "small" : "large",
                             kept,
                             counted));
}

void check_statistics(const Statistics& s, const HeapTotals& totals, PoolKind kind) {
  const auto of = [kind](const StatByKind& stat) { return stat.of(kind).current; };
  expect("reserved_bytes", kind, totals.reserved.count(), of(s.reserved_bytes));
  expect("allocated_bytes", kind, totals.allocated.count(), of(s.allocated_bytes));
  expect("active_bytes", kind, totals.active.count(), of(s.active_bytes));
  expect("requested_bytes", kind, totals.requested.count(), of(s.requested_bytes));
  expect("allocation", kind, totals.allocations, of(s.allocation));
  expect("active", kind, totals.active_blocks, of(s.active));
  expect("segment", kind, totals.segments, of(s.segment));
}

void check_sums(const Statistics& s) {
  for (const StatByKind* stat : {&s.allocation,
                                 &s.segment,
                                 &s.active,
                                 &s.inactive_split,
                                 &s.allocated_bytes,
                                 &s.reserved_bytes,
                                 &s.active_bytes,
                                 &s.inactive_split_bytes,
                                 &s.requested_bytes}) {
    FRAGCAST_CHECK(stat->all.current == stat->small().current + stat->large().current,
                   "a statistic of all pools is not the sum of both kinds");
    FRAGCAST_CHECK(stat->all.peak >= stat->all.current, "a peak lies below the present");
  }
}

}  // namespace

void CachingAllocator::check() const {
  const auto totals = check_heap(heap_);
  const Statistics& s = statistics();
  check_sums(s);
  std::int64_t indexed = 0;
  for (const PoolKind kind : {PoolKind::small, PoolKind::large}) {
    const HeapTotals& of_kind = totals[static_cast<std::size_t>(kind)];
    check_statistics(s, of_kind, kind);
    indexed += of_kind.indexed;
    if (inactive_split_drifts_) continue;
    expect(
        "inactive_split", kind, of_kind.inactive_split_blocks, s.inactive_split.of(kind).current);
    expect("inactive_split_bytes",
           kind,
           of_kind.inactive_split.count(),
           s.inactive_split_bytes.of(kind).current);
  }
  check_indices(indexed);
  check_pending();
  check_charges();
}

void CachingAllocator::check_indices(std::int64_t idle_blocks) const {
  std::int64_t indexed = 0;
  pools_.for_each([&](const Pool& pool) {
    pool.free.for_each([&](const Block& block) {
      FRAGCAST_CHECK(block.segment->pool == &pool && block.mapped, "a free block in a wrong index");
      ++indexed;
    });
    pool.unmapped.for_each([&](const Block& block) {
      FRAGCAST_CHECK(block.segment->pool == &pool && !block.mapped,
                     "an unmapped block in a wrong index");
      ++indexed;
    });
  });
  FRAGCAST_CHECK(indexed == idle_blocks, "a pool indexes blocks that no segment has");
  for (const Segment& segment : heap_.segments()) {
    for (const Block* block = segment.first; block != nullptr; block = block->next) {
      FRAGCAST_CHECK(block->is_idle() || blocks_.get(block->allocation) == block,
                     fmt::format("allocation {} has lost its block", block->allocation.value()));
    }
  }
}

void CachingAllocator::check_pending() const {
  std::unordered_map<const Block*, std::int32_t> events;
  pending_.for_each([&](const Block& block) { ++events[&block]; });
  for (const auto& [block, count] : events) {
    FRAGCAST_CHECK(block->pending_events == count && !block->allocated,
                   "a block waits for other events than are queued for it");
  }
}

void CachingAllocator::check_charges() const {
  Bytes charged;
  const Bytes granularity = device_.profile().granularity;
  pools_.for_each([&](const Pool& pool) {
    charged += pool.cached_pages * round_up(pool.cached_page_size, granularity);
  });
  for (const Segment& segment : heap_.segments()) {
    if (!segment.expandable()) {
      charged += round_up(segment.size, granularity);
      continue;
    }
    Bytes mapped;
    for (const Block* block = segment.first; block != nullptr; block = block->next) {
      if (block->mapped) mapped += block->size;
    }
    charged += (mapped / segment.page_size) * round_up(segment.page_size, granularity);
  }
  FRAGCAST_CHECK(charged == device_.used(),
                 fmt::format("the device has charged {} bytes, the allocator holds {}",
                             device_.used().count(),
                             charged.count()));
}

}  // namespace fragcast
