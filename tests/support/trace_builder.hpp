#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "replay/trace/trace.hpp"

namespace fragcast {

/// Writes a trace call by call, for tests.
class TraceBuilder {
 public:
  TraceBuilder() { trace_.conditions.device_memory = 64_GiB; }

  /// A request under the next free id.
  AllocationId allocate(Bytes size, StreamId stream = StreamId{}) {
    Event& event = add(EventKind::allocate);
    event.size = size;
    event.allocation = AllocationId{next_id_++};
    event.stream = stream;
    return event.allocation;
  }
  /// A request of which the recording says that it failed.
  AllocationId fail_to_allocate(Bytes rounded_size) {
    const AllocationId id = allocate(rounded_size);
    trace_.events.back().failed_in_recording = true;
    return id;
  }
  void deallocate(AllocationId id) { add(EventKind::deallocate).allocation = id; }
  void record_stream(AllocationId id, StreamId stream) {
    Event& event = add(EventKind::record_stream);
    event.allocation = id;
    event.stream = stream;
  }
  void complete_events(StreamId stream) { add(EventKind::complete_events).stream = stream; }
  void apply(Control call) {
    add(EventKind::control).detail = static_cast<std::uint32_t>(trace_.controls.size());
    trace_.controls.push_back(std::move(call));
  }
  Event& add(EventKind kind) {
    Event event;
    event.kind = kind;
    event.source = static_cast<std::uint32_t>(trace_.events.size());
    trace_.events.push_back(event);
    return trace_.events.back();
  }

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
  Trace trace_;
  std::uint32_t next_id_ = 0;
};

}  // namespace fragcast
