#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "policies/allocator_model.hpp"
#include "replay/engine/run_spec.hpp"
#include "replay/trace/trace.hpp"
#include "sim/core/dense_map.hpp"
#include "sim/device/device.hpp"

namespace fragcast {

/// What became of one event.
struct EventResult {
  enum class Kind : std::uint8_t {
    done,
    placed,         ///< an allocation went to `placement`
    out_of_memory,  ///< an allocation could not be served: Session::last_oom()
    skipped,        ///< a call on an allocation that could not be served
    refused,        ///< the model refused the call: Session::last_refusal()
  };
  Kind kind = Kind::done;
  Placement placement;
};

/// Everything counted since the trace began, whatever its reset calls did to the allocator's own
/// statistics. What made the heap that the trace began with is left out.
struct RunTotals {
  /// The highest values over the time of the trace, each at its own moment.
  Usage peak;
  /// Segments and mapped stretches.
  std::int64_t device_allocs = 0;
  /// Segments and unmapped stretches.
  std::int64_t device_frees = 0;
  std::int64_t alloc_retries = 0;
  std::int64_t ooms = 0;
  std::int64_t oom_rejections = 0;
  /// Calls of the trace, not what the allocator flushed by itself.
  std::int64_t empty_caches = 0;
};

/// One replay in progress: a device, a model on it, and a place in a trace. Whoever drives it may
/// look at everything between two events.
///
///     Session session{trace, conditions};
///     while (!session.at_end()) {
///       const Event& event = session.next();
///       const EventResult result = session.step();
///       …
///     }
class Session {
 public:
  /// Makes the device, the model, and the heap that the trace began with. The trace must outlive
  /// the session.
  Session(const Trace& trace, const RunConditions& conditions);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Why there can be no replay under these conditions; empty if there can. A refused session has
  /// warnings, trace and conditions, and nothing else may be asked of it.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  /// What the model remarked on settings that it accepted.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

  [[nodiscard]] const Trace& trace() const { return trace_; }
  [[nodiscard]] const RunConditions& conditions() const { return conditions_; }
  [[nodiscard]] const Device& device() const { return device_; }
  [[nodiscard]] const AllocatorModel& model() const { return *model_; }
  [[nodiscard]] AllocatorModel& model() { return *model_; }

  /// How many events were carried out.
  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] bool at_end() const { return position_ == trace_.events.size(); }
  /// The event that comes next; only before the end.
  [[nodiscard]] const Event& next() const { return trace_.events[position_]; }

  /// Carries out the next event; only before the end.
  EventResult step();
  /// Carries out events until `position` of them are.
  void run_to(std::size_t position) {
    while (position_ < position) step();
  }

  /// The latest allocation that could not be served.
  [[nodiscard]] const OutOfMemory& last_oom() const { return last_oom_; }
  /// Why the model refused the latest call that it refused.
  [[nodiscard]] const std::string& last_refusal() const { return last_refusal_; }
  /// Allocations of the heap that the trace began with for which a cold start found no memory.
  [[nodiscard]] const std::vector<OutOfMemory>& start_ooms() const { return start_ooms_; }

  [[nodiscard]] RunTotals totals() const;

 private:
  EventResult allocate(const Event& event);
  EventResult deallocate(const Event& event);
  EventResult record_stream(const Event& event);
  EventResult control(const Event& event);
  [[nodiscard]] bool has_failed(AllocationId id) const { return failed_.get(id) != 0; }

  [[nodiscard]] ControlRefusal make_model();
  [[nodiscard]] ControlRefusal set_fraction();
  [[nodiscard]] ControlRefusal start_warm();
  [[nodiscard]] ControlRefusal start_cold();
  void free_pending();

  const Trace& trace_;
  RunConditions conditions_;
  Device device_;
  std::unique_ptr<AllocatorModel> model_;
  std::size_t position_ = 0;
  /// Allocations that could not be served.
  DenseMap<AllocationId, std::uint8_t> failed_;
  /// What the statistics held when the trace reset them.
  RunTotals before_resets_;

  OutOfMemory last_oom_;
  std::string last_refusal_;
  std::vector<OutOfMemory> start_ooms_;
  std::string refusal_;
  std::vector<std::string> warnings_;
};

}  // namespace fragcast
