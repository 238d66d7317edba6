#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policies/control.hpp"
#include "replay/trace/call_stacks.hpp"
#include "replay/trace/steps.hpp"
#include "sim/core/bytes.hpp"
#include "sim/core/chunked_vector.hpp"
#include "sim/core/strong_id.hpp"
#include "sim/device/device.hpp"
#include "sim/observe/layout.hpp"

namespace fragcast {

/// What one event of a trace asks of the allocator, or tells about its surroundings.
enum class EventKind : std::uint8_t {
  allocate,         ///< `size` bytes on `stream`, named `allocation`
  deallocate,       ///< frees `allocation`
  record_stream,    ///< `stream` uses `allocation`
  complete_events,  ///< the device finishes the events of `stream`
  complete_all,     ///< the device finishes all events
  control,          ///< `detail` indexes Trace::controls
  snapshot,         ///< a snapshot is taken (answers list the whole state)
  cache_info,       ///< the cached bytes are asked for
  mark,             ///< `detail` indexes Trace::labels
  step,             ///< a training step begins
};

/// One event, in 24 bytes.
struct Event {
  Bytes size{};
  AllocationId allocation{};
  /// Where it stood in the file: index of the device's recorded entries, or of a script's calls.
  std::uint32_t source = 0;
  std::uint32_t detail = 0;
  StreamId stream{};
  EventKind kind = EventKind::mark;
  /// The recording says that this allocation failed; its size is already rounded.
  bool failed_in_recording = false;
};
static_assert(sizeof(Event) == 24);

/// What is known of one allocation beside its events.
struct Allocation {
  StackId stack;
};

/// The heap as it was before the first event.
struct InitialState {
  /// Segments with all their blocks, free ones included; every live or pending block names its
  /// allocation.
  Layout heap;
  /// Allocations whose block size is in no entry of the file and was inferred.
  std::vector<AllocationId> inferred_sizes;
  /// Blocks freed before the trace began whose events were not complete. Restoring `heap` makes
  /// them live; replay frees them first, held back by `stream` until the trace completes it.
  struct Pending {
    AllocationId allocation;
    StreamId stream;
  };
  std::vector<Pending> pending;
  [[nodiscard]] bool empty() const { return heap.empty(); }
};

/// The conditions under which the requests are to be replayed unless the user says otherwise.
struct Conditions {
  /// The allocator's settings string, as the environment variable would hold it.
  std::optional<std::string> settings;
  std::optional<Bytes> device_memory;
  std::optional<double> fraction;
  std::optional<std::string> soc;
  /// Events complete when recorded; otherwise only when told, waited for or synchronised.
  bool instant_events = true;
};

/// Where the recording's device placed memory, in order. Best fit breaks ties by address, so a
/// replay that is to match a recording wants the same.
struct RecordedAddresses {
  std::vector<Device::PlannedSegment> segments;
  /// Of the first map of each new range.
  std::vector<Device::PlannedRange> ranges;
};

/// A sequence of requests to one device's allocator.
struct Trace {
  ChunkedVector<Event> events;
  /// How many entries the device's recording, or calls the script, has: `event:N` counts these.
  std::uint32_t source_entries = 0;
  /// By AllocationId.
  std::vector<Allocation> allocations;
  std::vector<Control> controls;
  std::vector<std::string> labels;
  CallStacks stacks;
  InitialState initial;
  Conditions conditions;
  RecordedAddresses addresses;
  Steps steps;
};

}  // namespace fragcast
