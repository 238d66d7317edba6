#pragma once

#include <boost/intrusive/list.hpp>

#include "sim/heap/block.hpp"
#include "sim/heap/object_store.hpp"
#include "sim/heap/pool.hpp"

namespace fragcast {

/// One segment of device memory or, with a page size, one range of addresses that memory is mapped
/// into page by page. All of it belongs to one pool and one stream.
struct Segment {
  Address base;
  Bytes size;
  StreamId stream;
  Pool* pool = nullptr;
  /// The block at `base`; the others follow through Block::next.
  Block* first = nullptr;
  /// Of an expandable range; zero for a plain segment.
  Bytes page_size;
  boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::normal_link>>
      hook;

  [[nodiscard]] bool expandable() const { return page_size != Bytes{0}; }
  [[nodiscard]] Extent extent() const { return {base, size}; }
};

/// The mechanics of a heap with block splitting: segments, the blocks that tile them, and the free
/// blocks by pool. It decides nothing.
class Heap {
 public:
  using Segments = boost::intrusive::list<
      Segment,
      boost::intrusive::member_hook<Segment, decltype(Segment::hook), &Segment::hook>,
      boost::intrusive::constant_time_size<true>>;

  Heap() = default;
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  ~Heap() { segments_.clear(); }

  /// A new segment of one block that covers it, in no index yet.
  Block& add_segment(Extent extent, StreamId stream, Pool& pool, Bytes page_size = Bytes{0});
  /// Forgets a segment that has come down to one block, in no index any more.
  void remove_segment(Block& only_block);

  /// Cuts the first `size` bytes off `block` as a new block, which is returned. `block` keeps the
  /// rest and what it knew. Neither is put into an index.
  Block& split_front(Block& block, Bytes size);
  /// Cuts all but the first `size` bytes off `block` as a new block, which is returned; `block`
  /// keeps the front.
  Block& split_back(Block& block, Bytes size);
  /// Absorbs the idle neighbour on either side that is mapped alike, taking it out of its index.
  /// What was absorbed, in bytes; zero where nothing could be.
  Bytes merge_previous(Block& block);
  Bytes merge_next(Block& block);

  void put_free(Block& block) {
    Pool& pool = *block.segment->pool;
    block.free_since = pool.searches;
    pool.free.insert(block.segment->stream, block);
  }
  void take_free(Block& block) { block.segment->pool->free.erase(block.segment->stream, block); }
  void put_unmapped(Block& block) {
    block.segment->pool->unmapped.insert(block.segment->stream, block);
  }
  void take_unmapped(Block& block) {
    block.segment->pool->unmapped.erase(block.segment->stream, block);
  }

  [[nodiscard]] const Segments& segments() const { return segments_; }
  [[nodiscard]] std::size_t block_count() const { return blocks_.live(); }

 private:
  Block& new_block(Segment& segment, Extent extent);
  /// Takes `absorbed`, a neighbour of `block`, into it and releases it.
  Bytes absorb(Block& block, Block& absorbed);
  void release(Block& block);

  ObjectStore<Block> blocks_;
  ObjectStore<Segment> segment_store_;
  Segments segments_;
};

}  // namespace fragcast
