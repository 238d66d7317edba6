#include "replay/trace/start_blocks.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "policies/caching/sizes.hpp"
#include "replay/trace/address_map.hpp"

namespace fragcast {
namespace {

/// What a plain large segment does not split off.
constexpr Bytes unsplit_rest = sizes::small_request;

/// The last of `sorted` whose `key_of` is not above `key`; null if all are.
template <class T, class KeyOf>
T* last_up_to(std::vector<T>& sorted, BlockKey key, KeyOf key_of) {
  const auto after = std::upper_bound(
      sorted.begin(), sorted.end(), key, [&](BlockKey k, const T& t) { return k < key_of(t); });
  return after == sorted.begin() ? nullptr : &*std::prev(after);
}

/// The blocks of the beginning behind which a rest may hide, watched for the first allocation
/// there.
class HiddenRests {
 public:
  /// `block` is alive, and behind it lies a free block.
  void watch(SizedBlock& block) {
    block.uncertain = true;
    const BlockKey key = block.block.key;
    watched_.push_back(
        {.end = {.stream = key.stream, .address = key.address + block.size}, .block = &block});
    by_begin_.put(key, watched_.size() - 1);
    ++open_;
  }

  /// Goes through the history until all that can show has shown.
  void find(const RecordedDevice& device, const RecordedNames& names, const WalkedBack& walked) {
    const auto last_of_free = walked.leaves_completions_out ? RecordedAction::free_requested
                                                            : RecordedAction::free_completed;
    for (std::size_t i = walked.first_entry; i < device.entries.size() && open_ > 0; ++i) {
      const RecordedEntry& entry = device.entries[i];
      const BlockKey key{.stream = names.stream(entry.stream), .address = entry.address};
      if (entry.action == RecordedAction::alloc) {
        allocated(key);
      } else if (entry.action == last_of_free) {
        if (const std::size_t* index = by_begin_.find(key)) close(watched_[*index]);
      }
    }
  }

 private:
  struct Watched {
    BlockKey end;
    SizedBlock* block = nullptr;
  };

  void allocated(BlockKey key) {
    Watched* watched = last_up_to(watched_, key, [](const Watched& w) { return w.end; });
    if (watched == nullptr || watched->block == nullptr) return;
    if (watched->end.stream != key.stream) return;
    const Bytes rest = key.address - watched->end.address;
    if (rest > unsplit_rest) return;
    watched->block->size += rest;
    watched->block->uncertain = false;
    close(*watched);
  }
  void close(Watched& watched) {
    if (watched.block == nullptr) return;
    watched.block = nullptr;
    --open_;
  }

  /// In order of their ends.
  std::vector<Watched> watched_;
  AddressMap<std::size_t> by_begin_;
  std::size_t open_ = 0;
};

class Sizing {
 public:
  Sizing(WalkedBack& walked,
         const RecordedDevice& device,
         const RecordedNames& names,
         const RecordedConditions& conditions)
      : walked_{walked}, device_{device}, names_{names}, conditions_{conditions} {}

  std::vector<SizedBlock> run() {
    blocks_.reserve(walked_.blocks.size());
    for (std::size_t i = 0; i < walked_.blocks.size(); ++i) size_block(i);
    for (const std::size_t i : with_free_behind_) hidden_.watch(blocks_[i]);
    hidden_.find(device_, names_, walked_);
    return std::move(blocks_);
  }

 private:
  [[nodiscard]] Bytes rounded(const StartBlock& block) const {
    return round_size(block.requested, conditions_.padding, conditions_.settings);
  }
  void size_block(std::size_t index);
  const Stretch& stretch_around(std::size_t index);
  [[nodiscard]] Bytes room_until_next(std::size_t index, Address end) const;

  WalkedBack& walked_;
  const RecordedDevice& device_;
  const RecordedNames& names_;
  const RecordedConditions& conditions_;
  std::vector<SizedBlock> blocks_;
  std::vector<std::size_t> with_free_behind_;
  HiddenRests hidden_;
};

/// From a block to the next one or, if that comes first, to `end`.
Bytes Sizing::room_until_next(std::size_t index, Address end) const {
  const BlockKey key = walked_.blocks[index].key;
  if (index + 1 < walked_.blocks.size()) {
    const BlockKey next = walked_.blocks[index + 1].key;
    if (next.stream == key.stream) end = std::min(end, next.address);
  }
  return end - key.address;
}

const Stretch& Sizing::stretch_around(std::size_t index) {
  const StartBlock& block = walked_.blocks[index];
  if (const Stretch* stretch = walked_.reserved.find(block.key)) return *stretch;
  walked_.anomalies.add(Anomaly::block_without_segment);
  const Bytes wanted = block.size.value_or(rounded(block));
  Address end = block.key.address + std::max(wanted, sizes::min_block);
  // Not into what comes next on the stream, be it a block or a stretch.
  end = block.key.address + room_until_next(index, end);
  const auto& stretches = walked_.reserved.stretches();
  const auto next = stretches.upper_bound(block.key);
  if (next != stretches.end() && next->first.stream == block.key.stream) {
    end = std::min(end, next->first.address);
  }
  const Extent extent{block.key.address, end - block.key.address};
  walked_.reserved.add({.extent = extent,
                        .stream = block.key.stream,
                        .pool = PoolId{},
                        .kind = pool_kind(extent.size),
                        .expandable = false});
  return *walked_.reserved.find(block.key);
}

void Sizing::size_block(std::size_t index) {
  const StartBlock& block = walked_.blocks[index];
  const Stretch& stretch = stretch_around(index);
  const Bytes room = room_until_next(index, stretch.extent.end());
  blocks_.push_back({.block = block, .size = Bytes{}, .inferred = !block.size, .uncertain = false});
  SizedBlock& sized = blocks_.back();
  const Bytes wanted = block.size.value_or(rounded(block));
  sized.size = std::min(wanted, room);
  sized.block.requested = std::min(block.requested, room);
  if (wanted > room) walked_.anomalies.add(Anomaly::block_does_not_fit);
  if (block.size || stretch.expandable || stretch.kind == PoolKind::small) return;
  const Bytes rest = room - sized.size;
  if (rest <= unsplit_rest || sized.size >= conditions_.settings.max_split_size) {
    sized.size = room;
  } else {
    with_free_behind_.push_back(index);
  }
}

/// A block of the final state that nothing in the history frees.
struct Survivor {
  BlockKey key;
  Bytes size;
  /// In WalkedBack::blocks.
  std::size_t index = 0;
  bool later = false;

  [[nodiscard]] Address end() const { return key.address + size; }
};

/// Marks those that lie where the history allocated.
void mark_later(std::vector<Survivor>& sorted, StreamId stream, Extent allocated) {
  auto it =
      std::lower_bound(sorted.begin(),
                       sorted.end(),
                       BlockKey{.stream = stream, .address = allocated.end()},
                       [](const Survivor& survivor, BlockKey key) { return survivor.key < key; });
  while (it != sorted.begin()) {
    --it;
    if (it->key.stream != stream || it->end() <= allocated.begin) return;
    it->later = true;
  }
}

}  // namespace

void drop_later_blocks(WalkedBack& walked,
                       const RecordedDevice& device,
                       const RecordedNames& names) {
  std::vector<Survivor> survivors;
  for (std::size_t i = 0; i < walked.blocks.size(); ++i) {
    const StartBlock& block = walked.blocks[i];
    if (block.survives) survivors.push_back({.key = block.key, .size = *block.size, .index = i});
  }
  if (survivors.empty()) return;
  for (std::size_t i = walked.first_entry; i < device.entries.size(); ++i) {
    const RecordedEntry& entry = device.entries[i];
    if (entry.action != RecordedAction::alloc || entry.size == Bytes{0}) continue;
    mark_later(survivors, names.stream(entry.stream), {entry.address, entry.size});
  }

  std::vector<bool> drop(walked.blocks.size());
  for (const Survivor& survivor : survivors) {
    drop[survivor.index] = survivor.later;
    if (survivor.later) walked.anomalies.add(Anomaly::allocation_later);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < walked.blocks.size(); ++i) {
    if (!drop[i]) walked.blocks[kept++] = walked.blocks[i];
  }
  walked.blocks.resize(kept);
}

std::vector<SizedBlock> size_start_blocks(WalkedBack& walked,
                                          const RecordedDevice& device,
                                          const RecordedNames& names,
                                          const RecordedConditions& conditions) {
  return Sizing{walked, device, names, conditions}.run();
}

}  // namespace fragcast
