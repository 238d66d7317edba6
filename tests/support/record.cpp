#include "tests/support/record.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

#include "replay/engine/session.hpp"
#include "replay/formats/call_script.hpp"

namespace fragcast {
namespace {

constexpr std::uint64_t first_handle = 1000;

/// The index of `value` in `values`, which takes it in if it is new.
template <class Value>
std::uint16_t index_of(std::vector<Value>& values, const Value& value) {
  const auto known = std::find(values.begin(), values.end(), value);
  const auto index = static_cast<std::uint16_t>(known - values.begin());
  if (known == values.end()) values.push_back(value);
  return index;
}

std::uint16_t stream_index(Recording& recording, StreamId stream) {
  return index_of(recording.streams, first_handle + stream.value());
}

std::uint16_t pool_index(Recording& recording, PoolId pool) {
  const std::pair<std::int64_t, std::int64_t> id{0, pool.value()};
  return index_of(recording.pools, id);
}

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

RecordedEntry recorded(Recording& recording, const LogEntry& logged) {
  RecordedEntry entry;
  entry.action = recorded(logged.action);
  entry.address = logged.address;
  entry.size = logged.size;
  if (logged.stream) entry.stream = stream_index(recording, *logged.stream);
  entry.pool = pool_index(recording, logged.pool);
  return entry;
}

RecordedSegment recorded(Recording& recording, const SegmentPicture& picture) {
  RecordedSegment segment;
  segment.address = picture.address;
  segment.total_size = picture.size;
  segment.stream = stream_index(recording, picture.stream);
  segment.pool = pool_index(recording, picture.pool);
  segment.small = picture.kind == PoolKind::small;
  segment.expandable = picture.expandable();
  for (const BlockPicture& block : picture.blocks) {
    segment.blocks.push_back({.address = block.address,
                              .size = block.size,
                              .requested = block.requested,
                              .stack = {},
                              .state = recorded(block.state)});
  }
  return segment;
}

}  // namespace

Recording record(const Trace& trace, const RunConditions& conditions) {
  Session session{trace, conditions};
  EventLog log;
  session.model().attach_log(&log);
  session.run_to(trace.events.size());
  session.model().attach_log(nullptr);

  Recording recording;
  recording.entries_have_pools = true;
  recording.devices.emplace_back();
  RecordedDevice& device = recording.devices.front();
  for (const LogEntry& entry : log) device.entries.push_back(recorded(recording, entry));
  for (const SegmentPicture& segment : session.model().layout().segments) {
    device.segments.push_back(recorded(recording, segment));
  }
  return recording;
}

Recording record_script(std::string_view script, std::string_view model) {
  std::istringstream input{std::string{script}};
  const Trace trace = read_call_script(input, "script");
  RunSpec spec;
  spec.model = find_model(model);
  return record(trace, resolve_conditions(trace, spec));
}

Recording without_head(const Recording& recording,
                       const RecordedDevice& device,
                       std::size_t entries) {
  Recording cut;
  cut.streams = recording.streams;
  cut.pools = recording.pools;
  cut.entries_have_pools = recording.entries_have_pools;
  cut.devices.emplace_back();
  for (std::size_t i = entries; i < device.entries.size(); ++i) {
    cut.devices.front().entries.push_back(device.entries[i]);
  }
  cut.devices.front().segments = device.segments;
  return cut;
}

}  // namespace fragcast
