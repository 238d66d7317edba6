#include "policies/caching/pool_set.hpp"

#include <algorithm>

namespace fragcast {
namespace {

bool contains(const std::vector<PoolId>& ids, PoolId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

void set_membership(std::vector<PoolId>& ids, PoolId id, bool member) {
  if (!member) {
    ids.erase(std::remove(ids.begin(), ids.end(), id), ids.end());
  } else if (!contains(ids, id)) {
    ids.push_back(id);
  }
}

}  // namespace

PoolPair::PoolPair(PoolId owner) {
  small.kind = PoolKind::small;
  small.owner = owner;
  large.kind = PoolKind::large;
  large.owner = owner;
}

bool PrivatePool::bare() const {
  const auto holds_nothing = [](const Pool& pool) {
    return pool.segments == 0 && pool.mapped_pages == 0 && pool.cached_pages == 0;
  };
  return holds_nothing(pools.small) && holds_nothing(pools.large);
}

Pool& PoolSet::serving(PoolKind kind) {
  if (scopes_.empty()) return defaults_.of(kind);
  const PoolId id = serving_ == ServingScope::innermost ? scopes_.back() : scopes_.front();
  return private_.at(id)->pools.of(kind);
}

PrivatePool* PoolSet::find(PoolId id) {
  const auto it = private_.find(id);
  return it == private_.end() ? nullptr : it->second.get();
}

const PrivatePool* PoolSet::find(PoolId id) const {
  const auto it = private_.find(id);
  return it == private_.end() ? nullptr : it->second.get();
}

bool PoolSet::add_reference(PoolId id) {
  if (PrivatePool* pool = find(id)) {
    if (pool->freeable()) return false;
    ++pool->use_count;
    return true;
  }
  auto pool = std::make_unique<PrivatePool>(id);
  pool->pools.small.no_split = pool->pools.large.no_split = contains(no_split_, id);
  private_.emplace(id, std::move(pool));
  return true;
}

bool PoolSet::drop_reference(PoolId id) {
  PrivatePool* pool = find(id);
  if (pool == nullptr || pool->freeable()) return false;
  --pool->use_count;
  return true;
}

bool PoolSet::close_scope(PoolId id) {
  const auto latest = std::find(scopes_.rbegin(), scopes_.rend(), id);
  if (latest == scopes_.rend()) return false;
  scopes_.erase(std::next(latest).base());
  return true;
}

void PoolSet::set_use_on_oom(PoolId id, bool enabled) { set_membership(use_on_oom_, id, enabled); }

void PoolSet::set_no_split(PoolId id, bool enabled) {
  set_membership(no_split_, id, enabled);
  if (PrivatePool* pool = find(id)) {
    pool->pools.small.no_split = pool->pools.large.no_split = enabled;
  }
}

bool PoolSet::forgettable(const PrivatePool& pool) const {
  return pool.freeable() && pool.bare() && !contains(scopes_, pool.pools.small.owner);
}

}  // namespace fragcast
