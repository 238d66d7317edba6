#pragma once

#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sim/core/address.hpp"
#include "sim/core/bytes.hpp"
#include "sim/core/dense_map.hpp"
#include "sim/core/strong_id.hpp"

namespace fragcast {

/// What people write first: best fit on a `std::set`, splitting and merging, on one arena that
/// grows. No pools, no streams, no statistics. The yardstick that speeds are given as a ratio to.
class BestFitReference {
 public:
  Address allocate(AllocationId id, Bytes requested) {
    const Bytes size = round_up(requested, 512_B);
    const auto fit = by_size_.lower_bound({size, Address{}});
    Extent block{.begin = end_, .size = size};
    if (fit == by_size_.end()) {
      end_ = block.end();
    } else {
      block.begin = fit->second;
      const Bytes rest = fit->first - size;
      take({block.begin, fit->first});
      if (rest > Bytes{0}) put({block.end(), rest});
    }
    live_[id] = block;
    return block.begin;
  }

  void deallocate(AllocationId id) {
    Extent block = live_[id];
    const auto next = by_address_.find(block.end());
    if (next != by_address_.end()) {
      const Extent absorbed{next->first, next->second};
      take(absorbed);
      block.size += absorbed.size;
    }
    auto previous = by_address_.lower_bound(block.begin);
    if (previous != by_address_.begin()) {
      --previous;
      const Extent absorbed{previous->first, previous->second};
      if (absorbed.end() == block.begin) {
        take(absorbed);
        block = {absorbed.begin, absorbed.size + block.size};
      }
    }
    put(block);
  }

 private:
  void put(Extent block) {
    by_size_.emplace(block.size, block.begin);
    by_address_.emplace(block.begin, block.size);
  }
  void take(Extent block) {
    by_size_.erase({block.size, block.begin});
    by_address_.erase(block.begin);
  }

  std::set<std::pair<Bytes, Address>> by_size_;
  std::map<Address, Bytes> by_address_;
  DenseMap<AllocationId, Extent> live_;
  Address end_{4096};
};

}  // namespace fragcast
