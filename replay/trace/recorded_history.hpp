#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "replay/trace/between_requests.hpp"
#include "sim/core/address.hpp"
#include "sim/core/bytes.hpp"
#include "sim/core/strong_id.hpp"
#include "sim/observe/event_log.hpp"

namespace fragcast {

/// Memory that the allocator got from the device or gave back, as recorded.
struct RecordedSegmentEvent {
  LogEntry what;
  /// Index of the entry.
  std::uint32_t entry = 0;
};

/// An `empty_cache` call that a history shows by what it gave back.
struct EmptyCacheCall {
  /// The call's event in the trace.
  std::size_t event = 0;
  /// The last entry that the call left.
  std::uint32_t entry = 0;
  /// How many allocations and frees come before it: the call is at `request:N`.
  std::size_t request = 0;
  Bytes released;
  std::size_t releases = 0;
  /// Of that private pool only; PoolId{} if of all.
  PoolId pool;
};

/// What completions and releases between two requests were taken to come from.
struct JudgedRun {
  /// The last entry of the run, which names it.
  std::uint32_t entry = 0;
  RunCause cause = RunCause::none;
  std::uint32_t releases = 0;
  /// The free right before the run that seems to be completed at once.
  std::optional<std::uint32_t> free_before;
  /// All of it was given back by one private pool.
  bool of_one_pool = false;
};

/// What really happened, as far as a replay can be compared with it.
struct RecordedHistory {
  /// By AllocationId; Address{} for requests that failed.
  std::vector<Address> addresses;
  /// In order of time.
  std::vector<RecordedSegmentEvent> segment_events;
  std::vector<EmptyCacheCall> empty_cache_calls;
  std::vector<JudgedRun> runs;
  /// Blocks of the start that may be up to 1 MiB larger than the trace has them, in order of their
  /// numbers.
  std::vector<AllocationId> uncertain_sizes;
  Bytes initial_reserved;
  Bytes peak_reserved;
  Bytes final_reserved;
  /// Segments made and stretches mapped; segments and stretches given back.
  std::uint64_t device_allocs = 0;
  std::uint64_t device_frees = 0;
  /// Requests that failed, repeats included.
  std::uint64_t failures = 0;
};

}  // namespace fragcast
