#include <algorithm>
#include <iterator>

#include "policies/caching/caching_allocator.hpp"

namespace fragcast {

void CachingAllocator::collect_garbage() {
  const Bytes threshold{static_cast<std::int64_t>(settings_.garbage_collection_threshold *
                                                  static_cast<double>(limit_->count()))};
  if (held() <= threshold) return;
  const Bytes target = held() - threshold;
  Pool& pool = pools_.defaults().large;
  const auto age = [&](const Block& block) { return pool.searches - block.free_since; };

  double total_age = 0;
  std::int64_t candidates = 0;
  pool.free.for_each([&](const Block& block) {
    if (block.is_split()) return;
    total_age += static_cast<double>(age(block));
    ++candidates;
  });
  if (candidates == 0) return;
  source_.wait_before_release();

  // Whole rounds, whatever the target: upstream does not want to be back soon.
  Bytes reclaimed;
  bool freed_any = true;
  while (reclaimed < target && freed_any && candidates > 0) {
    const double mean_age = total_age / static_cast<double>(candidates);
    freed_any = false;
    pool.free.for_each([&](Block& block) {
      const auto block_age = static_cast<double>(age(block));
      if (block.is_split() || block.segment->expandable() || block_age < mean_age) return;
      freed_any = true;
      reclaimed += block.size;
      total_age -= block_age;
      --candidates;
      source_.release_segment(block);
    });
  }
}

bool CachingAllocator::release_oversize(const Search& search) {
  if (settings_.max_split_size == Bytes::unlimited()) return false;
  source_.wait_before_release();
  FreeIndex::Tree& blocks = search.pool->free.of(search.stream);
  const Bytes wanted = std::max(search.rounded, settings_.max_split_size);
  // Changes at run time can leave blocks of this size in expandable ranges or split. Releasing one
  // is an internal error or worse upstream; we pass them over, as CUDA's allocator does since 2.6.
  const auto can_be_released = [](const Block& block) {
    return !block.segment->expandable() && !block.is_split();
  };
  const auto smallest_enough =
      search.pool->free.lower_bound(search.stream, {.size = wanted, .address = Address{}});
  if (smallest_enough != blocks.end() && can_be_released(*smallest_enough)) {
    source_.release_segment(*smallest_enough);
    return true;
  }
  // No single one is large enough: from the largest down, until they add up.
  Bytes released;
  auto next = smallest_enough;
  while (released < wanted && next != blocks.begin()) {
    const auto candidate = std::prev(next);
    if (candidate->size < settings_.max_split_size) break;
    if (can_be_released(*candidate)) {
      released += candidate->size;
      source_.release_segment(*candidate);
    } else {
      next = candidate;
    }
  }
  return released >= wanted;
}

void CachingAllocator::flush(FreedPages pages) {
  source_.wait_before_release();
  if (!events_paused()) {
    ++ledger().counters().num_sync_all_streams;
    queue_held_back();
    pending_.drain(device_, nullptr, [this](Block& block) { finish_free(block); });
    release_free_blocks(pools_.defaults().large, pages);
    release_free_blocks(pools_.defaults().small, pages);
  }
  auto& private_pools = pools_.all_private();
  for (auto it = private_pools.begin(); it != private_pools.end();) {
    PrivatePool& pool = *(it++)->second;
    if (!pool.freeable()) continue;
    release_free_blocks(pool.pools.small, pages);
    release_free_blocks(pool.pools.large, pages);
    forget_if_bare(pool);
  }
}

void CachingAllocator::empty_private_pool(PrivatePool& pool) {
  const PoolId id = pool.pools.small.owner;
  ++ledger().counters().num_sync_all_streams;
  queue_held_back();
  pending_.drain(device_, &id, [this](Block& block) { finish_free(block); });
  release_free_blocks(pool.pools.small, FreedPages::to_device);
  release_free_blocks(pool.pools.large, FreedPages::to_device);
  forget_if_bare(pool);
}

void CachingAllocator::forget_if_bare(PrivatePool& pool) {
  if (!pools_.forgettable(pool)) return;
  // A range in which the first map failed has nothing to unmap, so nobody gives it back: upstream
  // loses it with its pool.
  for (Pool* half : {&pool.pools.small, &pool.pools.large}) {
    half->unmapped.for_each([this](Block& block) {
      heap_.take_unmapped(block);
      heap_.remove_segment(block);
    });
  }
  pools_.forget(pool.pools.small.owner);
}

void CachingAllocator::release_free_blocks(Pool& pool, FreedPages pages) {
  // Unmapping changes the free blocks, so what is to be unmapped is gathered first: pieces left
  // mapped at either end are not visited again.
  scratch_.clear();
  pool.free.for_each([this](Block& block) {
    if (block.segment->expandable()) {
      scratch_.push_back(&block);
    } else if (!block.is_split()) {
      source_.release_segment(block);
    }
  });
  for (Block* block : scratch_) source_.unmap_inside(*block, pages);
  if (pages == FreedPages::to_device) source_.destroy_cached_pages(pool);
}

}  // namespace fragcast
