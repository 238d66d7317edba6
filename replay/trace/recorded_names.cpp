#include "replay/trace/recorded_names.hpp"

#include <algorithm>
#include <cstddef>

namespace fragcast {
namespace {

/// The indices marked in `used`, in order of what `values` holds there.
template <class Value>
std::vector<std::size_t> in_order_of_value(const std::vector<Value>& values,
                                           const std::vector<bool>& used) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (used[i]) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return values[a] < values[b];
  });
  return order;
}

}  // namespace

bool has_stream(RecordedAction action) {
  switch (action) {
    case RecordedAction::alloc:
    case RecordedAction::free_requested:
    case RecordedAction::free_completed:
    case RecordedAction::segment_alloc:
    case RecordedAction::segment_free:
    case RecordedAction::segment_map:
    case RecordedAction::segment_unmap:
    case RecordedAction::oom:
      return true;
    case RecordedAction::snapshot:
    case RecordedAction::workspace_snapshot:
    case RecordedAction::annotate:
    case RecordedAction::unknown:
      return false;
  }
  return false;
}

RecordedNames name_streams_and_pools(const Recording& recording, const RecordedDevice& device) {
  std::vector<bool> streams_used(recording.streams.size());
  std::vector<bool> pools_used(recording.pools.size());
  for (const RecordedEntry& entry : device.entries) {
    if (!has_stream(entry.action)) continue;
    streams_used[entry.stream] = true;
    pools_used[entry.pool] = true;
  }
  for (const RecordedSegment& segment : device.segments) {
    streams_used[segment.stream] = true;
    pools_used[segment.pool] = true;
  }

  RecordedNames names;
  names.streams.resize(recording.streams.size());
  for (const std::size_t i : in_order_of_value(recording.streams, streams_used)) {
    names.streams[i] = StreamId{names.handles.size()};
    names.handles.push_back(recording.streams[i]);
  }
  names.pools.resize(recording.pools.size());
  names.pool_ids.push_back(recording.pools[0]);
  pools_used[0] = false;
  for (const std::size_t i : in_order_of_value(recording.pools, pools_used)) {
    names.pools[i] = PoolId{names.pool_ids.size()};
    names.pool_ids.push_back(recording.pools[i]);
  }
  return names;
}

}  // namespace fragcast
