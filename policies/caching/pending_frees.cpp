#include "policies/caching/pending_frees.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace fragcast {

PendingFrees::Entry PendingFrees::Queue::pop() {
  const Entry entry = entries[head++];
  // Closing the gap only when it is the larger half keeps a pop at constant cost on average.
  if (head * 2 > entries.size()) {
    entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(head));
    head = 0;
  }
  return entry;
}

std::uint32_t PendingFrees::rank_of(StreamId stream) const {
  const auto ranks = beyond_few_ ? order_.ranks : order_.ranks_of_few;
  return stream.index() < ranks.size() ? ranks[stream.index()]
                                       : std::numeric_limits<std::uint32_t>::max();
}

void PendingFrees::note_queue_count(std::size_t queues) {
  if (beyond_few_ || queues <= order_.few) return;
  beyond_few_ = true;
  for (Queue& queue : queues_) queue.rank = rank_of(queue.stream);
  std::stable_sort(queues_.begin(), queues_.end(), [](const Queue& a, const Queue& b) {
    return a.rank < b.rank;
  });
}

PendingFrees::Queue& PendingFrees::queue_of(StreamId stream) {
  for (Queue& queue : queues_) {
    if (queue.stream == stream) return queue;
  }
  note_queue_count(queues_.size() + 1);
  Queue fresh;
  if (!spare_.empty()) {
    fresh = std::move(spare_.back());
    spare_.pop_back();
  }
  fresh.stream = stream;
  fresh.rank = rank_of(stream);
  const auto behind = std::find_if(
      queues_.begin(), queues_.end(), [&](const Queue& queue) { return queue.rank > fresh.rank; });
  return *queues_.insert(behind, std::move(fresh));
}

void PendingFrees::push(Block& block, DeviceEvent event) {
  queue_of(event.stream).entries.push_back({.event = event, .block = &block});
  ++block.pending_events;
  ++outstanding_;
}

void PendingFrees::retire_empty_queues() {
  for (auto queue = queues_.begin(); queue != queues_.end();) {
    if (!queue->empty()) {
      ++queue;
      continue;
    }
    queue->entries.clear();
    queue->head = 0;
    spare_.push_back(std::move(*queue));
    queue = queues_.erase(queue);
  }
}

}  // namespace fragcast
