#include <algorithm>

#include "policies/caching/caching_allocator.hpp"
#include "sim/core/check.hpp"

namespace fragcast {

bool CachingAllocator::events_paused() const {
  switch (rules_.events_paused_by) {
    case EventsPausedBy::captures:
      return captures_ > 0;
    case EventsPausedBy::scopes:
      return captures_ > 0 || pools_.any_scope_open();
  }
  return false;
}

void CachingAllocator::do_record_stream(AllocationId id, StreamId stream) {
  Block& block = *blocks_[id];
  if (rules_.own_stream_use == OwnStreamUse::ignored && stream == block.segment->stream) return;
  const auto known = std::find_if(block.uses.begin(), block.uses.end(), [&](const StreamUse& use) {
    return use.stream == stream;
  });
  if (known == block.uses.end()) {
    block.uses.push_back({.stream = stream, .during_capture = events_paused()});
  } else if (events_paused()) {
    known->during_capture = true;
  }
}

void CachingAllocator::do_deallocate(AllocationId id) {
  Block& block = *blocks_[id];
  block.allocated = false;
  ledger().free_requested(facts(block));
  if (block.size >= settings_.max_split_size) ledger().counters().oversize_allocations.decrease(1);
  if (block.uses.empty()) {
    finish_free(block);
  } else if (events_paused()) {
    held_back_.push_back(&block);
  } else {
    queue_events(block);
  }
}

void CachingAllocator::queue_events(Block& block) {
  for (const StreamUse& use : block.uses) {
    pending_.push(block, device_.record_event(use.stream));
  }
  block.uses.clear();
}

void CachingAllocator::queue_held_back() {
  for (Block* block : held_back_) {
    // What streams did during a capture is known to be over; what they did before is not.
    auto& uses = block->uses;
    uses.erase(
        std::remove_if(
            uses.begin(), uses.end(), [](const StreamUse& use) { return use.during_capture; }),
        uses.end());
    queue_events(*block);
    if (block->pending_events == 0) finish_free(*block);
  }
  held_back_.clear();
}

void CachingAllocator::process_events() {
  if (!held_back_.empty()) queue_held_back();
  pending_.process(device_, [this](Block& block) { finish_free(block); });
}

void CachingAllocator::finish_free(Block& block) {
  FRAGCAST_CHECK(block.is_idle(), "a block is freed once its users and events are gone");
  ledger().free_completed(facts(block));
  blocks_[block.allocation] = nullptr;
  const Bytes before = heap_.merge_previous(block);
  const Bytes after = heap_.merge_next(block);
  heap_.put_free(block);
  if (block.segment->expandable()) return;
  // One change per operation, by the net difference: cumulative counts and peaks depend on it.
  std::int64_t blocks = 0;
  for (const Bytes absorbed : {before, after}) {
    if (absorbed > Bytes{0}) --blocks;
  }
  Bytes bytes = -before - after;
  if (block.is_split()) {
    ++blocks;
    bytes += block.size;
  }
  ledger().inactive_split_changed(block.segment->pool->kind, blocks, bytes);
}

ControlRefusal CachingAllocator::carry_out(const control::EraseStream& call) {
  Block* block = blocks_.get(call.allocation);
  if (block == nullptr || block->segment->stream != call.owner) return {};
  auto& uses = block->uses;
  uses.erase(std::remove_if(uses.begin(),
                            uses.end(),
                            [&](const StreamUse& use) { return use.stream == call.stream; }),
             uses.end());
  pending_.forget(*block, call.stream, [this](Block& freed) { finish_free(freed); });
  return {};
}

}  // namespace fragcast
