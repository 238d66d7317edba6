#include <fmt/format.h>

#include <algorithm>

#include "policies/caching/caching_allocator.hpp"
#include "policies/caching/sizes.hpp"
#include "sim/core/check.hpp"

namespace fragcast {
namespace {

/// Lazy reclaim processes events before the search only above this backlog (kLazyQuerySize).
constexpr std::size_t lazy_backlog = 512;

/// What an expandable block could grow to without moving.
Bytes expandable_size(const Block& block) {
  const bool can_grow = block.next != nullptr && !block.next->mapped;
  return can_grow ? block.size + block.next->size : block.size;
}

}  // namespace

CachingAllocator::Search CachingAllocator::begin_search(const AllocateRequest& request) {
  const Bytes padding = request.size_is_rounded ? Bytes{} : rules_.padding;
  const Bytes rounded = round_size(request.size, padding, settings_);
  return {.requested = request.size,
          .rounded = rounded,
          .segment = segment_size(rounded, settings_),
          .stream = request.stream,
          .pool = &pools_.serving(pool_kind(rounded))};
}

Bytes CachingAllocator::block_size(Bytes requested) const {
  return round_size(requested, rules_.padding, settings_);
}

Bytes CachingAllocator::largest_request(Bytes rounded) const { return rounded - rules_.padding; }

AllocateOutcome CachingAllocator::do_allocate(const AllocateRequest& request) {
  const bool lazy = settings_.multi_stream_lazy_reclaim;
  const bool paused = events_paused();
  if (!lazy && !paused) process_events();

  Search search = begin_search(request);
  bool processed = !lazy || paused;
  if (!processed && pending_.outstanding() > lazy_backlog) {
    process_events();
    processed = true;
  }
  Block* block = take_free_block(search);
  if (block == nullptr && !processed) {
    process_events();
    block = take_free_block(search);
  }
  if (block == nullptr) block = obtain_block(search);
  if (block == nullptr) return out_of_memory(search);
  return place(*block, search, request.id);
}

Block* CachingAllocator::take_free_block(const Search& search) {
  Pool& pool = *search.pool;
  if (collects_garbage()) ++pool.searches;
  FreeIndex::Tree& blocks = pool.free.of(search.stream);
  const auto first =
      pool.free.lower_bound(search.stream, {.size = search.rounded, .address = Address{}});
  const auto fit = best_fit(blocks, first);
  if (fit == blocks.end()) return nullptr;
  // There is no second candidate: a first one that max_split_size forbids ends the search.
  const bool oversize_request = search.rounded >= settings_.max_split_size;
  if (!oversize_request && fit->size >= settings_.max_split_size) return nullptr;
  if (oversize_request && fit->size >= search.rounded + settings_.max_non_split_rounding) {
    return nullptr;
  }
  Block& block = *fit;
  blocks.erase(fit);
  return &block;
}

FreeIndex::iterator CachingAllocator::best_fit(FreeIndex::Tree& blocks,
                                               const FreeIndex::iterator& first) const {
  auto fit = first;
  if (fit == blocks.end() || !fit->segment->expandable()) return fit;
  if (!settings_.expandable_segments) {
    // Turned off at run time: expandable blocks are left alone.
    return std::find_if(
        std::next(fit), blocks.end(), [](const Block& b) { return !b.segment->expandable(); });
  }
  // An expandable block counts with what it could grow to: the walk goes on while the next one
  // would grow less.
  for (auto next = std::next(fit); next != blocks.end() && fit->segment->expandable(); ++next) {
    if (expandable_size(*next) >= expandable_size(*fit)) break;
    fit = next;
  }
  return fit;
}

Block* CachingAllocator::obtain_block(Search& search) {
  if (collects_garbage()) collect_garbage();
  if (Block* block = grow(search)) return block;
  if (search.rejected) return nullptr;
  if (Block* block = take_from_overflow_pools(search)) return block;
  if (release_oversize(search)) {
    if (Block* block = grow(search)) return block;
  }
  if (search.rejected || events_paused()) return nullptr;
  flush(FreedPages::to_device);
  if (rules_.after_flush == AfterFlush::search_and_grow) {
    if (Block* block = take_free_block(search)) return block;
  }
  ++ledger().counters().num_alloc_retries;
  return grow(search);
}

Block* CachingAllocator::grow(Search& search) {
  if (limit_ && held() + search.segment > *limit_) return nullptr;
  if (settings_.throw_on_oom) {
    const auto allowed = static_cast<std::int64_t>(settings_.per_process_memory_fraction *
                                                   static_cast<double>(device_.total().count()));
    if (held() + search.segment > Bytes{allowed}) {
      ++ledger().counters().num_oom_rejections;
      search.rejected = true;
      return nullptr;
    }
  }
  // Pages are mapped for what the block must hold, though the limit was held against a segment.
  if (settings_.expandable_segments) {
    return source_.extend_range(
        {.pool = *search.pool, .stream = search.stream, .size = search.rounded});
  }
  return source_.allocate_segment(
      {.pool = *search.pool, .stream = search.stream, .size = search.segment});
}

Block* CachingAllocator::take_from_overflow_pools(Search& search) {
  if (search.pool->owner != PoolId{}) return nullptr;
  for (const PoolId id : pools_.overflow_pools()) {
    // A scope is opened and closed around the search, which makes a pool that does not exist.
    if (!pools_.add_reference(id)) continue;
    Search attempt = search;
    attempt.pool = &pools_.find(id)->pools.of(search.pool->kind);
    Block* block = take_free_block(attempt);
    FRAGCAST_CHECK(pools_.drop_reference(id), "the reference just taken is there");
    if (block != nullptr) {
      search = attempt;
      return block;
    }
  }
  return nullptr;
}

Block& CachingAllocator::align_base(Block& block, const Search& search) {
  const Bytes alignment = settings_.base_address_alignment;
  if (!settings_.expandable_segments || alignment == Bytes{0} ||
      search.rounded < sizes::segment_rounding) {
    return block;
  }
  const Bytes gap = align_up(block.address, alignment) - block.address;
  if (gap == Bytes{0} || gap + search.rounded > block.size) return block;
  if (!block.segment->expandable()) inactive_split_drifts_ = true;
  Block& aligned = heap_.split_back(block, gap);
  heap_.put_free(block);
  return aligned;
}

bool CachingAllocator::should_split(const Block& block, Bytes rounded) const {
  const Pool& pool = *block.segment->pool;
  if (pool.no_split) return false;
  const Bytes rest = block.size - rounded;
  if (pool.kind == PoolKind::small || settings_.expandable_segments) {
    return rest >= sizes::min_block;
  }
  return rounded < settings_.max_split_size && rest > sizes::small_request;
}

Placement CachingAllocator::place(Block& found, const Search& search, AllocationId id) {
  Block* block = &align_base(found, search);
  const PoolKind kind = block->segment->pool->kind;
  const bool counted = !block->segment->expandable();
  const bool was_split = block->is_split();
  if (should_split(*block, search.rounded)) {
    Block& rest = *block;
    block = &heap_.split_front(rest, search.rounded);
    heap_.put_free(rest);
    if (counted && was_split) ledger().inactive_split_changed(kind, 0, -block->size);
    if (counted && !was_split) ledger().inactive_split_changed(kind, 1, rest.size);
  } else if (counted && was_split) {
    ledger().inactive_split_changed(kind, -1, -block->size);
  }
  block->allocated = true;
  block->requested = search.requested;
  block->allocation = id;
  blocks_[id] = block;
  ledger().allocated(facts(*block));
  if (block->size >= settings_.max_split_size) ledger().counters().oversize_allocations.increase(1);
  return {.address = block->address, .size = block->size};
}

OutOfMemory CachingAllocator::out_of_memory(const Search& search) {
  OutOfMemory outcome{.requested = search.requested,
                      .tried = search.segment,
                      .device_free = device_.free(),
                      .rejected = search.rejected,
                      .message = {}};
  if (search.rejected) {
    outcome.message = rules_.rejection_message(search.requested);
    return outcome;
  }
  ledger().out_of_memory(search.rounded, device_.free(), search.stream, search.pool->owner);
  outcome.message = rules_.out_of_memory_message({.tried = search.segment,
                                                  .device_total = device_.total(),
                                                  .device_free = device_.free(),
                                                  .usage = current_usage(statistics()),
                                                  .limit = limit_});
  return outcome;
}

}  // namespace fragcast
