#pragma once

#include <cstddef>

#include "replay/trace/trace.hpp"

namespace fragcast {

/// A trace made from another one, event by event in its order; steps begin where their first event
/// comes to stand. The device addresses of the recording go: they belong to what was recorded.
class TraceEdit {
 public:
  /// Everything but the events.
  explicit TraceEdit(const Trace& original);

  /// The next event of the original stays, or goes.
  void keep();
  void drop() { pass(); }
  /// Puts an event before the original's next one: at the end of a step, if one begins there.
  void insert(Event event);
  /// Puts an `empty_cache` call there.
  void insert_empty_cache();

  /// How many of the original's events are behind.
  [[nodiscard]] std::size_t position() const { return next_; }
  [[nodiscard]] bool at_end() const { return next_ == original_.events.size(); }
  [[nodiscard]] const Event& next() const { return original_.events[next_]; }
  /// What has become of the original; to be taken at its end.
  [[nodiscard]] Trace& result() { return result_; }

 private:
  void pass();

  const Trace& original_;
  Trace result_;
  std::size_t next_ = 0;
  std::size_t next_step_ = 0;
  std::uint32_t empty_cache_ = 0;
};

}  // namespace fragcast
