#pragma once

#include <cstdint>
#include <utility>

#include "replay/trace/trace.hpp"

namespace fragcast {

/// Writes a trace call by call, for tests.
class TraceBuilder {
 public:
  TraceBuilder() { trace_.conditions.device_memory = 64_GiB; }

  /// A request under the next free id, or under one of a heap that the trace begins with.
  AllocationId allocate(Bytes size, StreamId stream = StreamId{}) {
    const AllocationId id{next_id_++};
    add({.size = size, .allocation = id, .stream = stream, .kind = EventKind::allocate});
    return id;
  }
  AllocationId fail_to_allocate(Bytes rounded_size) {
    const AllocationId id = allocate(rounded_size);
    trace_.events.back().failed_in_recording = true;
    return id;
  }
  void deallocate(AllocationId id) { add({.allocation = id, .kind = EventKind::deallocate}); }
  void record_stream(AllocationId id, StreamId stream) {
    add({.allocation = id, .stream = stream, .kind = EventKind::record_stream});
  }
  void complete_events(StreamId stream) {
    add({.stream = stream, .kind = EventKind::complete_events});
  }
  void apply(Control call) {
    add({.detail = static_cast<std::uint32_t>(trace_.controls.size()), .kind = EventKind::control});
    trace_.controls.push_back(std::move(call));
  }
  void event(EventKind kind) { add({.kind = kind}); }

  /// The heap before the first event; coming ids are behind its own.
  void begin_with(Layout heap) {
    for (const SegmentPicture& segment : heap.segments) {
      for (const BlockPicture& block : segment.blocks) {
        if (block.allocation) next_id_ = std::max(next_id_, block.allocation->value() + 1);
      }
    }
    trace_.initial.heap = std::move(heap);
  }

  [[nodiscard]] Trace& trace() { return trace_; }

 private:
  void add(Event event) {
    event.source = static_cast<std::uint32_t>(trace_.events.size());
    trace_.events.push_back(event);
  }

  Trace trace_;
  std::uint32_t next_id_ = 0;
};

}  // namespace fragcast
