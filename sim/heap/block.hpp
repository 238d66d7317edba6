#pragma once

#include <boost/intrusive/set_hook.hpp>
#include <cstdint>
#include <vector>

#include "sim/core/address.hpp"
#include "sim/core/bytes.hpp"
#include "sim/core/strong_id.hpp"

namespace fragcast {

struct Segment;

/// A stream that uses a block beside the one it was allocated on.
struct StreamUse {
  StreamId stream;
  /// Recorded while a graph capture was open.
  bool during_capture = false;
};

/// A stretch of one segment: in use, free, or address space without memory. Owned by a BlockStore;
/// never moves while it lives, so that neighbours and indices may point to it.
///
///     segment  [ block ]⇄[ block ]⇄[ block ]     by address, without gaps
struct Block {
  Address address;
  Bytes size;
  /// What the user asked for; of a free block, what its last user did.
  Bytes requested;
  Block* previous = nullptr;
  Block* next = nullptr;
  Segment* segment = nullptr;
  /// Whose it is while `allocated` or waiting for events.
  AllocationId allocation;
  /// Streams that use the block. Emptied when events stand for them.
  std::vector<StreamUse> uses;
  /// Events that must be done before the block is free again.
  std::int32_t pending_events = 0;
  bool allocated = false;
  bool mapped = true;
  /// The pool's search count when the block was put among its free blocks: its age counts from it.
  std::uint64_t free_since = 0;
  /// Links the block into the one index it is in: its pool's free blocks or its unmapped ones.
  boost::intrusive::set_member_hook<boost::intrusive::optimize_size<true>> hook;

  [[nodiscard]] Address end() const { return address + size; }
  [[nodiscard]] Extent extent() const { return {address, size}; }
  /// Has a neighbour in its segment.
  [[nodiscard]] bool is_split() const { return previous != nullptr || next != nullptr; }
  /// Neither in use, nor waiting for events, nor about to.
  [[nodiscard]] bool is_idle() const { return !allocated && pending_events == 0 && uses.empty(); }
};

}  // namespace fragcast
