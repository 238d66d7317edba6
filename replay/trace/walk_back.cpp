#include "replay/trace/walk_back.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "policies/caching/sizes.hpp"
#include "replay/formats/input_error.hpp"

namespace fragcast {
namespace {

/// Beyond any device, and safe to add up.
constexpr Bytes largest_size{std::int64_t{1} << 56};
constexpr Address last_address{std::uint64_t{1} << 62};
/// A request can fail because it is absurd.
constexpr Bytes largest_failure{std::int64_t{1} << 62};

struct LiveBlock {
  Bytes requested;
  std::optional<Bytes> size;
  StackId stack;
  bool pending = false;
  bool survives = false;
};

class BackwardWalk {
 public:
  BackwardWalk(const Recording& recording, const RecordedDevice& device, const RecordedNames& names)
      : recording_{recording}, device_{device}, names_{names} {}

  WalkedBack run() {
    find_workspaces();
    look_ahead();
    out_.leaves_requests_out = has_completions_ && !has_requests_;
    load_final_state();
    out_.peak_reserved = out_.reserved.total();
    for (std::size_t i = device_.entries.size(); i-- > out_.first_entry;) undo(i);
    std::reverse(out_.failures.begin(), out_.failures.end());
    std::reverse(out_.private_growths.begin(), out_.private_growths.end());
    collect_blocks();
    return std::move(out_);
  }

 private:
  [[noreturn]] void reject(std::size_t entry, std::string_view what) const {
    throw InputError{{.file = recording_.source.file, .line = {}, .byte = {}},
                     fmt::format("entry {} of device {} {}; the file is damaged or no memory "
                                 "snapshot, so record it again",
                                 entry,
                                 device_.index,
                                 what)};
  }
  [[noreturn]] void reject_segment(Address address, std::string_view what) const {
    throw InputError{{.file = recording_.source.file, .line = {}, .byte = {}},
                     fmt::format("the segment at {:#x} of device {} {}; the file is damaged or no "
                                 "memory snapshot, so record it again",
                                 address.value(),
                                 device_.index,
                                 what)};
  }

  void find_workspaces();
  void look_ahead();
  void load_final_state();
  void load_blocks(const RecordedSegment& segment, StreamId stream);
  [[nodiscard]] bool is_workspace(const RecordedSegment& segment) const;
  void undo(std::size_t index);
  void undo_alloc(BlockKey key, const RecordedEntry& entry);
  void undo_free_completed(BlockKey key, const RecordedEntry& entry);
  void undo_free_requested(BlockKey key, const RecordedEntry& entry);
  void undo_growth(BlockKey key, std::size_t index);
  void undo_release(BlockKey key, const RecordedEntry& entry);
  void collect_blocks();

  const Recording& recording_;
  const RecordedDevice& device_;
  const RecordedNames& names_;
  AddressMap<LiveBlock> live_;
  bool has_requests_ = false;
  bool has_completions_ = false;
  WalkedBack out_;
};

void BackwardWalk::find_workspaces() {
  const auto& entries = device_.entries;
  std::size_t i = 0;
  while (i + 2 < entries.size() && entries[i].action == RecordedAction::workspace_snapshot &&
         entries[i + 1].action == RecordedAction::segment_alloc &&
         entries[i + 2].action == RecordedAction::alloc) {
    out_.workspaces.push_back({.extent = {entries[i + 1].address, entries[i + 1].size},
                               .stream = names_.stream(entries[i + 1].stream)});
    i += 3;
  }
  // A cut file has its segments, but its history does not lead to them.
  if (entries.size() <= i + 1 || recording_.cut_at) {
    out_.kind = HistoryKind::state_only;
    i = entries.size();
  }
  out_.first_entry = i;
}

bool BackwardWalk::is_workspace(const RecordedSegment& segment) const {
  return std::any_of(
      out_.workspaces.begin(), out_.workspaces.end(), [&](const Workspace& workspace) {
        return workspace.stream == names_.stream(segment.stream) &&
               workspace.extent == Extent{segment.address, segment.total_size};
      });
}

void BackwardWalk::look_ahead() {
  for (std::size_t i = 0; i < device_.entries.size(); ++i) {
    const RecordedEntry& entry = device_.entries[i];
    if (!has_stream(entry.action)) continue;
    const bool failed = entry.action == RecordedAction::oom;
    if (entry.size < Bytes{0} || entry.size > (failed ? largest_failure : largest_size)) {
      reject(i, "has an impossible size");
    }
    if (entry.address >= last_address) reject(i, "has an impossible address");
    if (i < out_.first_entry) continue;
    if (entry.action == RecordedAction::free_requested) has_requests_ = true;
    if (entry.action == RecordedAction::free_completed) has_completions_ = true;
  }
}

void BackwardWalk::load_final_state() {
  for (const RecordedSegment& segment : device_.segments) {
    if (segment.total_size <= Bytes{0} || segment.total_size > largest_size ||
        segment.address >= last_address) {
      reject_segment(segment.address, "has an impossible size or address");
    }
    if (is_workspace(segment)) continue;
    const StreamId stream = names_.stream(segment.stream);
    const bool added = out_.reserved.add({.extent = {segment.address, segment.total_size},
                                          .stream = stream,
                                          .pool = names_.pool(segment.pool),
                                          .kind = segment.small ? PoolKind::small : PoolKind::large,
                                          .expandable = segment.expandable});
    if (!added) reject_segment(segment.address, "overlaps another");
    load_blocks(segment, stream);
  }
}

void BackwardWalk::load_blocks(const RecordedSegment& segment, StreamId stream) {
  const Extent extent{segment.address, segment.total_size};
  Address end = extent.begin;
  for (const RecordedBlock& block : segment.blocks) {
    if (block.size < Bytes{0} || block.size > largest_size || block.address < end ||
        block.address + block.size > extent.end()) {
      reject_segment(segment.address, "has blocks that overlap or leave it");
    }
    end = block.address + block.size;
    if (block.state == RecordedState::inactive) continue;
    if (block.requested < Bytes{0} || block.requested > block.size) {
      reject_segment(segment.address, "has a block smaller than its request");
    }
    live_.put({.stream = stream, .address = block.address},
              {.requested = block.requested,
               .size = block.size,
               .stack = block.stack,
               .pending = block.state == RecordedState::active_pending_free,
               .survives = true});
  }
}

void BackwardWalk::undo(std::size_t index) {
  const RecordedEntry& entry = device_.entries[index];
  const BlockKey key{.stream = names_.stream(entry.stream), .address = entry.address};
  switch (entry.action) {
    case RecordedAction::alloc:
      return undo_alloc(key, entry);
    case RecordedAction::free_completed:
      return undo_free_completed(key, entry);
    case RecordedAction::free_requested:
      return undo_free_requested(key, entry);
    case RecordedAction::segment_alloc:
    case RecordedAction::segment_map:
      return undo_growth(key, index);
    case RecordedAction::segment_free:
    case RecordedAction::segment_unmap:
      return undo_release(key, entry);
    case RecordedAction::oom:
      out_.failures.push_back({.entry = index,
                               .tried = entry.size,
                               .device_free = entry.address - Address{},
                               .reserved = out_.reserved.total()});
      return;
    case RecordedAction::snapshot:
    case RecordedAction::workspace_snapshot:
    case RecordedAction::annotate:
    case RecordedAction::unknown:
      return;
  }
}

void BackwardWalk::undo_alloc(BlockKey key, const RecordedEntry& entry) {
  const LiveBlock* block = live_.find(key);
  if (block == nullptr) {
    out_.anomalies.add(Anomaly::allocation_gone);
    return;
  }
  if (block->requested != entry.size) out_.anomalies.add(Anomaly::allocation_replaced);
  live_.erase(key);
}

void BackwardWalk::undo_free_completed(BlockKey key, const RecordedEntry& entry) {
  const bool fresh = live_.put(
      key, {.requested = entry.size, .size = {}, .stack = {}, .pending = true, .survives = false});
  if (!fresh) out_.anomalies.add(Anomaly::free_undone);
}

void BackwardWalk::undo_free_requested(BlockKey key, const RecordedEntry& entry) {
  LiveBlock* block = live_.find(key);
  if (block != nullptr && block->pending) {
    block->pending = false;
    block->survives = false;
    return;
  }
  const bool fresh = live_.put(
      key, {.requested = entry.size, .size = {}, .stack = {}, .pending = false, .survives = false});
  if (!fresh) {
    out_.anomalies.add(Anomaly::free_undone);
  } else if (has_completions_) {
    out_.anomalies.add(Anomaly::completion_missing);
  } else {
    out_.leaves_completions_out = true;
  }
}

void BackwardWalk::undo_growth(BlockKey key, std::size_t index) {
  const auto stretch = out_.reserved.take(key.stream, {key.address, device_.entries[index].size});
  if (!stretch) {
    out_.anomalies.add(Anomaly::segment_gone);
  } else if (!recording_.entries_have_pools && stretch->pool != PoolId{}) {
    out_.private_growths.emplace_back(index, stretch->pool);
  }
}

void BackwardWalk::undo_release(BlockKey key, const RecordedEntry& entry) {
  const bool expandable = entry.action == RecordedAction::segment_unmap;
  Stretch stretch{.extent = {entry.address, entry.size},
                  .stream = key.stream,
                  .pool = names_.pool(entry.pool),
                  .kind = {},
                  .expandable = expandable};
  if (!expandable) {
    stretch.kind = entry.size <= sizes::small_segment ? PoolKind::small : PoolKind::large;
  }
  if (!out_.reserved.add(stretch)) {
    // What is there came after the history ended.
    out_.anomalies.add(Anomaly::segment_back);
    out_.reserved.take(key.stream, stretch.extent);
    out_.reserved.add(stretch);
  }
  out_.peak_reserved = std::max(out_.peak_reserved, out_.reserved.total());
}

void BackwardWalk::collect_blocks() {
  out_.blocks.reserve(live_.size());
  live_.for_each([&](BlockKey key, const LiveBlock& block) {
    // Where requests are not recorded at all, a completion stands for the whole free.
    const bool pending = block.pending && (block.survives || !out_.leaves_requests_out);
    if (pending && !block.survives) out_.anomalies.add(Anomaly::completion_alone);
    out_.blocks.push_back({.key = key,
                           .requested = block.requested,
                           .size = block.size,
                           .stack = block.stack,
                           .pending = pending,
                           .survives = block.survives});
  });
  std::sort(out_.blocks.begin(), out_.blocks.end(), [](const StartBlock& a, const StartBlock& b) {
    return a.key < b.key;
  });
}

}  // namespace

WalkedBack walk_back(const Recording& recording,
                     const RecordedDevice& device,
                     const RecordedNames& names) {
  return BackwardWalk{recording, device, names}.run();
}

}  // namespace fragcast
