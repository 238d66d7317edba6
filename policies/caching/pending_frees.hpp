#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "policies/caching/rules.hpp"
#include "sim/device/device.hpp"
#include "sim/heap/heap.hpp"

namespace fragcast {

/// Blocks that were freed while other streams still used them: one queue of events per stream,
/// oldest first. A block is free again when its last event is done.
///
///     stream 3   ─ A ─ C          queues in the order in which they are processed
///     stream 0   ─ A ─ B ─ D
class PendingFrees {
 public:
  explicit PendingFrees(const StreamOrder& order) : order_{order} {}

  /// Makes `block` wait for `event`, too.
  void push(Block& block, DeviceEvent event);

  /// Takes what is done off the front of each queue; `freed(block)` is called for every block that
  /// waits for nothing more.
  template <class Freed>
  void process(Device& device, Freed freed) {
    if (outstanding_ == 0) return;
    for (Queue& queue : queues_) {
      while (!queue.empty() && device.is_done(queue.front().event)) settle(queue.pop(), freed);
    }
    retire_empty_queues();
  }

  /// Waits for every event (of blocks of the private pool `only`, if one is named) and takes it.
  template <class Freed>
  void drain(Device& device, const PoolId* only, Freed freed) {
    for (Queue& queue : queues_) {
      queue.take_if([&](const Entry& entry) {
        if (only != nullptr && entry.block->segment->pool->owner != *only) return false;
        device.wait_for(entry.event);
        settle(entry, freed);
        return true;
      });
    }
    retire_empty_queues();
  }

  /// Drops the event on which `block` waits for `stream`, if there is one.
  template <class Freed>
  void forget(Block& block, StreamId stream, Freed freed) {
    for (Queue& queue : queues_) {
      if (queue.stream != stream) continue;
      bool found = false;
      queue.take_if([&](const Entry& entry) {
        if (found || entry.block != &block) return false;
        found = true;
        settle(entry, freed);
        return true;
      });
    }
    retire_empty_queues();
  }

  /// Events queued.
  [[nodiscard]] std::size_t outstanding() const { return outstanding_; }

  template <class Visitor>
  void for_each(Visitor visit) const {
    for (const Queue& queue : queues_) {
      for (std::size_t i = queue.head; i < queue.entries.size(); ++i)
        visit(*queue.entries[i].block);
    }
  }

 private:
  struct Entry {
    DeviceEvent event;
    Block* block = nullptr;
  };
  struct Queue {
    StreamId stream;
    std::uint32_t rank = 0;
    std::vector<Entry> entries;
    std::size_t head = 0;

    [[nodiscard]] bool empty() const { return head == entries.size(); }
    [[nodiscard]] const Entry& front() const { return entries[head]; }
    Entry pop();
    /// Visits the entries in order and removes those for which `take` is true.
    template <class Take>
    void take_if(Take take) {
      std::size_t kept = head;
      for (std::size_t i = head; i < entries.size(); ++i) {
        const Entry entry = entries[i];
        if (!take(entry)) entries[kept++] = entry;
      }
      entries.resize(kept);
    }
  };

  template <class Freed>
  void settle(const Entry& entry, Freed& freed) {
    --outstanding_;
    if (--entry.block->pending_events == 0) freed(*entry.block);
  }
  [[nodiscard]] std::uint32_t rank_of(StreamId stream) const;
  Queue& queue_of(StreamId stream);
  void note_queue_count(std::size_t queues);
  void retire_empty_queues();

  StreamOrder order_;
  /// More queues than `order_.few` have existed at once.
  bool beyond_few_ = false;
  /// In processing order; none is empty between calls.
  std::vector<Queue> queues_;
  /// Emptied queues, kept for their capacity.
  std::vector<Queue> spare_;
  std::size_t outstanding_ = 0;
};

}  // namespace fragcast
