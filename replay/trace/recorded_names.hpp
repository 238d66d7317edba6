#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "replay/formats/recording.hpp"
#include "sim/core/strong_id.hpp"

namespace fragcast {

/// The streams and pools of one device of a recording under dense numbers.
///
/// Streams are numbered in order of their handles, as allocators order them. Pool 0 stands for the
/// default pools, private ones follow in order of their ids, which is the order in which they were
/// made.
struct RecordedNames {
  /// By index into Recording::streams and Recording::pools.
  std::vector<StreamId> streams;
  std::vector<PoolId> pools;
  /// By StreamId: the raw handles.
  std::vector<std::uint64_t> handles;
  /// By PoolId: the recorded ids.
  std::vector<std::pair<std::int64_t, std::int64_t>> pool_ids;

  [[nodiscard]] StreamId stream(std::uint16_t index) const { return streams[index]; }
  [[nodiscard]] PoolId pool(std::uint16_t index) const { return pools[index]; }
};

/// Numbers the streams and pools that the device's entries and segments use.
[[nodiscard]] RecordedNames name_streams_and_pools(const Recording& recording,
                                                   const RecordedDevice& device);

/// Whether an action is an allocator's doing on a stream; others carry no stream, or 0 for none.
[[nodiscard]] bool has_stream(RecordedAction action);

}  // namespace fragcast
