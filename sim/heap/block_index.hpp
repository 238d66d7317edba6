#pragma once

#include <boost/intrusive/set.hpp>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <vector>

#include "sim/heap/block.hpp"

namespace fragcast {

/// Orders free blocks for best fit: the smallest that is large enough, the lowest among equals.
struct BySize {
  struct Key {
    Bytes size;
    Address address;
  };
  [[nodiscard]] static Key key(const Block& b) { return {b.size, b.address}; }
  [[nodiscard]] static bool less(const Key& a, const Key& b) {
    return a.size != b.size ? a.size < b.size : a.address < b.address;
  }
};

/// Orders unmapped blocks by where they are.
struct ByAddress {
  using Key = Address;
  [[nodiscard]] static Key key(const Block& b) { return b.address; }
  [[nodiscard]] static bool less(Key a, Key b) { return a < b; }
};

/// Blocks of one pool in a fixed order, a tree per stream (a block serves its own stream only, so
/// no search ever crosses streams). Does not own them.
template <class Order>
class BlockIndex {
  struct Less {
    bool operator()(const Block& a, const Block& b) const {
      return Order::less(Order::key(a), Order::key(b));
    }
  };
  struct LessThanKey {
    bool operator()(const Block& a, const typename Order::Key& b) const {
      return Order::less(Order::key(a), b);
    }
    bool operator()(const typename Order::Key& a, const Block& b) const {
      return Order::less(a, Order::key(b));
    }
  };

 public:
  using Tree = boost::intrusive::set<
      Block,
      boost::intrusive::member_hook<Block, decltype(Block::hook), &Block::hook>,
      boost::intrusive::compare<Less>,
      boost::intrusive::constant_time_size<false>>;
  using iterator = typename Tree::iterator;

  /// The blocks of one stream, in order.
  [[nodiscard]] Tree& of(StreamId stream) {
    if (stream.index() >= trees_.size()) trees_.resize(stream.index() + 1);
    return trees_[stream.index()];
  }

  void insert(StreamId stream, Block& block) { of(stream).insert(block); }
  void erase(StreamId stream, Block& block) {
    Tree& tree = of(stream);
    tree.erase(tree.iterator_to(block));
  }
  /// The first block of the stream that does not come before `key`.
  [[nodiscard]] iterator lower_bound(StreamId stream, const typename Order::Key& key) {
    return of(stream).lower_bound(key, LessThanKey{});
  }

  [[nodiscard]] bool empty() const {
    for (const Tree& tree : trees_) {
      if (!tree.empty()) return false;
    }
    return true;
  }
  /// Visits all blocks: streams in order, each stream's blocks in order. The visitor may erase the
  /// block it is given, no other.
  template <class Visitor>
  void for_each(Visitor visit) {
    for (Tree& tree : trees_) {
      for (iterator it = tree.begin(); it != tree.end();) visit(*it++);
    }
  }
  template <class Visitor>
  void for_each(Visitor visit) const {
    for (const Tree& tree : trees_) {
      for (const Block& block : tree) visit(block);
    }
  }

 private:
  // Not a deque: a device has a handful of streams, and intrusive sets can be moved.
  std::vector<Tree> trees_;
};

using FreeIndex = BlockIndex<BySize>;
using UnmappedIndex = BlockIndex<ByAddress>;

}  // namespace fragcast
