#pragma once

#include <map>
#include <memory>
#include <vector>

#include "policies/caching/rules.hpp"
#include "sim/heap/pool.hpp"

namespace fragcast {

/// A small and a large pool that belong together.
struct PoolPair {
  explicit PoolPair(PoolId owner);

  [[nodiscard]] Pool& of(PoolKind kind) { return kind == PoolKind::small ? small : large; }

  Pool small;
  Pool large;
};

/// A private pool: of graph captures, or of `use_mem_pool`.
struct PrivatePool {
  explicit PrivatePool(PoolId id) : pools{id} {}

  PoolPair pools;
  /// At zero the pool is freeable: its free memory may go back to the device.
  int use_count = 1;

  [[nodiscard]] bool freeable() const { return use_count == 0; }
  /// Whether neither a segment nor a page, mapped or cached, is left in it.
  [[nodiscard]] bool bare() const;
};

/// The pools of one allocator: the default pair, private pairs by number, and the scopes that say
/// which of them serves.
class PoolSet {
 public:
  explicit PoolSet(ServingScope serving) : serving_{serving} {}

  [[nodiscard]] PoolPair& defaults() { return defaults_; }
  [[nodiscard]] const PoolPair& defaults() const { return defaults_; }
  /// The pool that serves a request of this kind now.
  [[nodiscard]] Pool& serving(PoolKind kind);

  /// The private pool of that number, or null.
  [[nodiscard]] PrivatePool* find(PoolId id);
  [[nodiscard]] const PrivatePool* find(PoolId id) const;
  /// Takes a reference, making the pool if it does not exist. False, and nothing done, if it exists
  /// and is freeable: an internal error upstream.
  [[nodiscard]] bool add_reference(PoolId id);
  /// Drops a reference; false if there is none to drop.
  [[nodiscard]] bool drop_reference(PoolId id);
  void open_scope(PoolId id) { scopes_.push_back(id); }
  /// Closes the latest open scope of the pool, wherever it is in the nesting; false if none is.
  [[nodiscard]] bool close_scope(PoolId id);
  [[nodiscard]] bool any_scope_open() const { return !scopes_.empty(); }

  void set_use_on_oom(PoolId id, bool enabled);
  void set_no_split(PoolId id, bool enabled);
  /// Pools that help out when memory is short, in the order in which they were named.
  [[nodiscard]] const std::vector<PoolId>& overflow_pools() const { return use_on_oom_; }

  /// Private pools in the order of their numbers.
  [[nodiscard]] std::map<PoolId, std::unique_ptr<PrivatePool>>& all_private() { return private_; }
  /// Whether the pool is freeable and holds nothing any more. (One whose scope is still open stays,
  /// for requests to go to: upstream they would be an internal error.)
  [[nodiscard]] bool forgettable(const PrivatePool& pool) const;
  void forget(PoolId id) { private_.erase(id); }

  /// Visits every pool: default large and small, then the private ones.
  template <class Visitor>
  void for_each(Visitor visit) const {
    visit(defaults_.large);
    visit(defaults_.small);
    for (const auto& [id, pool] : private_) {
      visit(pool->pools.large);
      visit(pool->pools.small);
    }
  }

 private:
  ServingScope serving_;
  PoolPair defaults_{PoolId{}};
  std::map<PoolId, std::unique_ptr<PrivatePool>> private_;
  std::vector<PoolId> scopes_;
  std::vector<PoolId> use_on_oom_;
  std::vector<PoolId> no_split_;
};

}  // namespace fragcast
