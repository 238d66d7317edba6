#include "replay/engine/record_run.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "policies/caching/settings.hpp"
#include "replay/engine/session.hpp"
#include "replay/formats/input_error.hpp"
#include "replay/trace/address_map.hpp"
#include "sim/core/check.hpp"
#include "sim/core/dense_map.hpp"
#include "sim/observe/event_log.hpp"

namespace fragcast {
namespace {

RecordedAction recorded(LogAction action) {
  switch (action) {
    case LogAction::alloc:
      return RecordedAction::alloc;
    case LogAction::free_requested:
      return RecordedAction::free_requested;
    case LogAction::free_completed:
      return RecordedAction::free_completed;
    case LogAction::segment_alloc:
      return RecordedAction::segment_alloc;
    case LogAction::segment_free:
      return RecordedAction::segment_free;
    case LogAction::segment_map:
      return RecordedAction::segment_map;
    case LogAction::segment_unmap:
      return RecordedAction::segment_unmap;
    case LogAction::oom:
      return RecordedAction::oom;
    case LogAction::snapshot:
      return RecordedAction::snapshot;
  }
  return RecordedAction::unknown;
}

RecordedState recorded(BlockState state) {
  switch (state) {
    case BlockState::allocated:
      return RecordedState::active_allocated;
    case BlockState::pending:
      return RecordedState::active_pending_free;
    case BlockState::free:
    case BlockState::held_back:
      return RecordedState::inactive;
  }
  return RecordedState::inactive;
}

RecordedSettings settings_of(const RunConditions& conditions) {
  RecordedSettings recorded;
  recorded.variable = conditions.model->variable;
  recorded.text = conditions.settings;
  recorded.device_memory = conditions.device_memory;
  recorded.fraction = conditions.fraction;
  if (conditions.model->vendor == Vendor::npu) recorded.soc = name_of(conditions.soc);
  const auto settings = read_settings(conditions.release(), conditions.settings);
  if (!settings) return recorded;
  recorded.expandable_segments = settings->expandable_segments;
  if (settings->max_split_size != Bytes::unlimited()) {
    recorded.max_split_size = settings->max_split_size;
  }
  recorded.garbage_collection_threshold = settings->garbage_collection_threshold;
  // Keyed by the lower end of the interval, in MiB.
  std::int64_t interval = 1;
  for (const std::uint32_t divisions : settings->roundup_power2_divisions) {
    recorded.roundup_power2_divisions[std::to_string(interval)] = divisions;
    interval *= 2;
  }
  return recorded;
}

/// One replay on its way to becoming a recording.
class RunRecorder {
 public:
  RunRecorder(Session& session, const RecordedAs& as)
      : session_{session}, trace_{session.trace()}, names_{as.names} {
    out_.settings = settings_of(session.conditions());
    out_.source.layer = "snapshot";
    out_.entries_have_pools = true;
    out_.pools.front() = pool_id(PoolId{});
    device_.index = as.device;
    remember_start();
    session_.model().attach_log(&log_);
  }
  ~RunRecorder() { session_.model().attach_log(nullptr); }
  RunRecorder(const RunRecorder&) = delete;
  RunRecorder& operator=(const RunRecorder&) = delete;

  Recording run() {
    while (!session_.at_end()) step();
    for (const SegmentPicture& segment : session_.model().layout().segments) record(segment);
    out_.devices.push_back(std::move(device_));
    return std::move(out_);
  }

 private:
  void remember_start();
  void step();
  void record(const LogEntry& entry, const Event& event);
  void record(const SegmentPicture& segment);
  [[nodiscard]] StackId stack_of(const LogEntry& entry, const Event& event);
  [[nodiscard]] StackId stack_of(AllocationId id) const {
    return trace_.allocations[id.index()].stack;
  }
  [[nodiscard]] AllocationId user_of(BlockKey key);
  [[nodiscard]] Bytes requested(AllocationId id, Bytes size) const;
  [[nodiscard]] std::uint16_t index_of(StreamId stream);
  [[nodiscard]] std::uint16_t index_of(PoolId pool);
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> pool_id(PoolId pool) const;

  Session& session_;
  const Trace& trace_;
  const RecordedNames& names_;
  Recording out_;
  RecordedDevice device_;
  EventLog log_;
  /// By whom the blocks in use were allocated.
  AddressMap<AllocationId> users_;
  /// For which request the segment or stretch that begins there was made.
  AddressMap<StackId> segment_stacks_;
  /// What requests are said to have asked for of which only the rounded size is known.
  std::map<AllocationId, Bytes> restated_;
  /// Index into Recording::pools; 0: none yet.
  DenseMap<PoolId, std::uint16_t> pool_indices_;
};

void RunRecorder::remember_start() {
  for (const SegmentPicture& segment : session_.model().layout().segments) {
    for (const BlockPicture& block : segment.blocks) {
      if (!block.allocation) continue;
      users_.put({.stream = segment.stream, .address = block.address}, *block.allocation);
    }
  }
}

void RunRecorder::step() {
  const Event& event = session_.next();
  log_.clear();
  const EventResult result = session_.step();
  if (event.failed_in_recording && result.kind == EventResult::Kind::placed) {
    restated_.emplace(event.allocation, session_.model().largest_request(event.size));
  }
  for (const LogEntry& entry : log_) record(entry, event);
}

void RunRecorder::record(const LogEntry& entry, const Event& event) {
  const StackId stack = stack_of(entry, event);
  device_.entries.push_back({.address = entry.address,
                             .size = entry.action == LogAction::alloc
                                         ? requested(event.allocation, entry.size)
                                         : entry.size,
                             .stack = stack,
                             .stream = entry.stream ? index_of(*entry.stream) : std::uint16_t{0},
                             .pool = index_of(entry.pool),
                             .action = recorded(entry.action)});
  device_.times_us.push_back(event.source);
}

/// As torch has it with `context="alloc"`; follows along who uses which block.
StackId RunRecorder::stack_of(const LogEntry& entry, const Event& event) {
  const BlockKey key{.stream = entry.stream.value_or(StreamId{}), .address = entry.address};
  const StackId in_progress =
      event.kind == EventKind::allocate ? stack_of(event.allocation) : StackId{};
  switch (entry.action) {
    case LogAction::alloc:
      users_.put(key, event.allocation);
      return in_progress;
    case LogAction::free_requested:
      return stack_of(user_of(key));
    case LogAction::free_completed: {
      const StackId stack = stack_of(user_of(key));
      users_.erase(key);
      return stack;
    }
    case LogAction::segment_alloc:
    case LogAction::segment_map:
      segment_stacks_.put(key, in_progress);
      return in_progress;
    case LogAction::segment_free:
    case LogAction::segment_unmap:
    case LogAction::oom:
    case LogAction::snapshot:
      return in_progress;
  }
  return in_progress;
}

void RunRecorder::record(const SegmentPicture& segment) {
  const StackId* stack =
      segment_stacks_.find({.stream = segment.stream, .address = segment.address});
  RecordedSegment out{.address = segment.address,
                      .total_size = segment.size,
                      .stream = index_of(segment.stream),
                      .pool = index_of(segment.pool),
                      .small = segment.kind == PoolKind::small,
                      .expandable = segment.expandable(),
                      .stack = stack != nullptr ? *stack : StackId{},
                      .blocks = {}};
  out.blocks.reserve(segment.blocks.size());
  for (const BlockPicture& block : segment.blocks) {
    const bool in_use = block.allocation.has_value();
    out.blocks.push_back(
        {.address = block.address,
         .size = block.size,
         .requested = in_use ? requested(*block.allocation, block.requested) : block.requested,
         .stack = in_use ? stack_of(*block.allocation) : StackId{},
         .state = recorded(block.state)});
  }
  device_.segments.push_back(std::move(out));
}

AllocationId RunRecorder::user_of(BlockKey key) {
  const AllocationId* user = users_.find(key);
  FRAGCAST_CHECK(user != nullptr, "the model freed a block that nobody had");
  return *user;
}

Bytes RunRecorder::requested(AllocationId id, Bytes size) const {
  const auto found = restated_.find(id);
  return found == restated_.end() ? size : found->second;
}

std::uint16_t RunRecorder::index_of(StreamId stream) {
  while (out_.streams.size() <= stream.index()) {
    const std::size_t next = out_.streams.size();
    out_.streams.push_back(next < names_.handles.size() ? names_.handles[next] : next);
  }
  return stream.value();
}

std::uint16_t RunRecorder::index_of(PoolId pool) {
  if (pool == PoolId{}) return 0;
  std::uint16_t& index = pool_indices_[pool];
  if (index == 0) {
    index = static_cast<std::uint16_t>(out_.pools.size());
    out_.pools.push_back(pool_id(pool));
  }
  return index;
}

/// Pools that the recording does not name follow those that it does.
std::pair<std::int64_t, std::int64_t> RunRecorder::pool_id(PoolId pool) const {
  const auto& ids = names_.pool_ids;
  if (ids.empty()) return {0, pool.value()};
  if (pool.index() < ids.size()) return ids[pool.index()];
  return {ids.back().first,
          ids.back().second + static_cast<std::int64_t>(pool.index() + 1 - ids.size())};
}

}  // namespace

Recording record_run(const Trace& trace, const RunConditions& conditions, const RecordedAs& as) {
  Session session{trace, conditions};
  if (!session.refusal().empty()) throw InputError{{}, session.refusal()};
  return RunRecorder{session, as}.run();
}

}  // namespace fragcast
