#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/engine/run_spec.hpp"
#include "sim/core/bytes.hpp"
#include "sim/core/strong_id.hpp"
#include "sim/observe/fragmentation.hpp"
#include "sim/observe/layout.hpp"
#include "sim/observe/statistics.hpp"

namespace fragcast {

/// How a run ended.
enum class RunOutcome : std::uint8_t {
  completed,
  out_of_memory,  ///< some request could not be served
  refused,        ///< there was no run: the model refused the settings or the start
};

/// An allocation that could not be served.
struct FailedRequest {
  /// Absent: it was part of the heap that the trace began with.
  std::optional<EventIndex> event;
  Bytes requested;
  /// What the device was asked for.
  Bytes tried;
  Bytes device_free;
  bool failed_in_recording = false;
  std::string message;
};

/// A control call that the model refused to carry out; the run went on without it.
struct RefusedCall {
  EventIndex event;
  std::string reason;
};

/// How often what was called, over the time of the trace, and about how much memory.
struct RunCounts {
  /// As `num_device_alloc` and `num_device_free`: segments and stretches.
  std::int64_t device_allocs = 0;
  std::int64_t device_frees = 0;
  std::int64_t segment_allocs = 0;
  std::int64_t segment_frees = 0;
  /// Stretches of pages mapped or unmapped at a time.
  std::int64_t maps = 0;
  std::int64_t unmaps = 0;
  std::int64_t pages_mapped = 0;
  std::int64_t pages_unmapped = 0;
  /// Of these, pages of 1 GiB.
  std::int64_t gigabyte_pages_mapped = 0;
  std::int64_t gigabyte_pages_unmapped = 0;
  /// Pages cached as handles are neither.
  std::int64_t pages_created = 0;
  std::int64_t pages_destroyed = 0;
  std::int64_t ranges_reserved = 0;
  std::int64_t ranges_released = 0;
  Bytes segment_bytes_allocated;
  Bytes segment_bytes_freed;
  Bytes page_bytes_created;
  Bytes page_bytes_destroyed;
  Bytes bytes_mapped;
  Bytes bytes_unmapped;
  /// Of the whole device, or of a whole stream.
  std::int64_t syncs = 0;
  /// Of single events.
  std::int64_t event_syncs = 0;
  std::int64_t events_recorded = 0;
  std::int64_t event_queries = 0;
  std::int64_t alloc_retries = 0;
  std::int64_t ooms = 0;
  std::int64_t oom_rejections = 0;
  /// Calls of the trace.
  std::int64_t empty_caches = 0;
};

/// The heap at the first moment between two events when reserved memory is highest.
struct ReservedPeak {
  /// The event after which it is; absent: before the first.
  std::optional<EventIndex> event;
  Fragmentation gap;
  /// The heap itself; whoever has looked at it may drop it.
  Layout heap;
};

/// What one simulation came to: plain data.
struct Run {
  std::string name;
  RunConditions conditions;
  RunOutcome outcome = RunOutcome::completed;
  /// Of a refusal, the model's; of a failure, the message of the first; else empty.
  std::string reason;
  std::vector<std::string> warnings;

  /// Absolute amounts, what was there at the start included. Peaks are over the time of the trace,
  /// each at its own moment, and see what happens inside an event.
  Usage peak;
  Usage final;
  Bytes final_inactive_split;
  ReservedPeak at_peak_reserved;
  RunCounts counts;
  /// In order of the trace.
  std::vector<FailedRequest> failures;
  /// Requests that failed in the recording and were served here.
  std::int64_t recorded_failures_served = 0;
  std::vector<RefusedCall> refused_calls;
  /// Events carried out; fewer than the trace has, where a failure stopped the run.
  std::size_t events = 0;
  /// After each event, if it was asked for.
  std::vector<Usage> series;
};

/// Whether a request failed that did not fail in the recording.
[[nodiscard]] bool fails_anew(const Run& run);

}  // namespace fragcast
