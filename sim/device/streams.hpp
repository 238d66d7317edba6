#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/strong_id.hpp"

namespace fragcast {

/// A point in the work of one stream: done once the stream has come so far.
struct DeviceEvent {
  StreamId stream;
  /// From 1, in order of recording.
  std::uint32_t ticket = 0;
};

/// The streams of a device, and how far each has come. Work on one stream finishes in order.
///
///     stream 0   ──1──2──3──▶ recorded 3
///                   done 2
class Streams {
 public:
  /// Records an event behind all work of `stream`; an instant one is done at once.
  DeviceEvent record(StreamId stream, bool instant) {
    Progress& p = at(stream);
    ++p.recorded;
    if (instant) p.done = p.recorded;
    return {.stream = stream, .ticket = p.recorded};
  }
  [[nodiscard]] bool done(DeviceEvent event) const {
    return event.ticket <= streams_[event.stream.index()].done;
  }
  /// Lets the stream come to `event`, and so past everything before it.
  void finish(DeviceEvent event) {
    Progress& p = at(event.stream);
    if (p.done < event.ticket) p.done = event.ticket;
  }
  void finish_all(StreamId stream) {
    Progress& p = at(stream);
    p.done = p.recorded;
  }
  void finish_all() {
    for (Progress& p : streams_) p.done = p.recorded;
  }
  /// Events recorded and not done.
  [[nodiscard]] std::int64_t pending() const {
    std::int64_t sum = 0;
    for (const Progress& p : streams_) sum += p.recorded - p.done;
    return sum;
  }

 private:
  struct Progress {
    std::uint32_t recorded = 0;
    std::uint32_t done = 0;
  };
  Progress& at(StreamId stream) {
    if (stream.index() >= streams_.size()) streams_.resize(stream.index() + 1);
    return streams_[stream.index()];
  }

  std::vector<Progress> streams_;
};

}  // namespace fragcast
