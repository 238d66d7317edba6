#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/core/address.hpp"
#include "sim/core/bytes.hpp"
#include "sim/core/strong_id.hpp"

namespace fragcast {

/// What an allocator's own memory history records; the names are torch's.
enum class LogAction : std::uint8_t {
  alloc,
  free_requested,
  free_completed,
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
  oom,
  snapshot,
};

/// One entry of the history. For `oom`, `address` holds the free device memory, in bytes.
struct LogEntry {
  LogAction action = LogAction::alloc;
  Address address;
  Bytes size;
  /// None for `snapshot`.
  std::optional<StreamId> stream;
  PoolId pool;
  bool operator==(const LogEntry&) const = default;
};

/// Where a model writes its history, if anyone listens.
using EventLog = std::vector<LogEntry>;

}  // namespace fragcast
