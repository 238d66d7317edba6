#include "replay/verify/explain_divergence.hpp"

#include <fmt/format.h>

#include <string_view>

namespace fragcast {
namespace {

std::string_view verb(LogAction action) {
  switch (action) {
    case LogAction::alloc:
      return "alloc";
    case LogAction::free_requested:
      return "free_requested";
    case LogAction::free_completed:
      return "free_completed";
    case LogAction::segment_alloc:
      return "segment_alloc";
    case LogAction::segment_free:
      return "segment_free";
    case LogAction::segment_map:
      return "segment_map";
    case LogAction::segment_unmap:
      return "segment_unmap";
    case LogAction::oom:
      return "oom";
    case LogAction::snapshot:
      return "snapshot";
  }
  return {};
}

std::string describe(const LogEntry& entry) {
  return fmt::format(
      "{} of {} bytes at {:#x}", verb(entry.action), entry.size.count(), entry.address.value());
}

}  // namespace

std::string describe(const Event& event) {
  switch (event.kind) {
    case EventKind::allocate:
      return fmt::format(
          "allocation of {} bytes on stream {}", event.size.count(), event.stream.value());
    case EventKind::deallocate:
      return fmt::format("free of allocation {}", event.allocation.value());
    case EventKind::control:
      return "control call";
    case EventKind::record_stream:
    case EventKind::complete_events:
    case EventKind::complete_all:
      return "events";
    case EventKind::snapshot:
    case EventKind::cache_info:
    case EventKind::mark:
    case EventKind::step:
      return "mark";
  }
  return {};
}

std::string describe_difference(const LogEntry& recorded, const LogEntry& done) {
  return fmt::format("recorded is {}, the model did {}", describe(recorded), describe(done));
}

std::string describe_unrecorded(const LogEntry& done) {
  return fmt::format("the model did {}, which is not recorded", describe(done));
}

std::string describe_missing(const LogEntry& recorded) {
  return fmt::format("recorded is {}, which the model did not do", describe(recorded));
}

std::string likely_reason(const Normalised& recording, const Event&) {
  const Conditions& conditions = recording.trace.conditions;
  const AnomalyCounts& anomalies = recording.anomalies;
  if (anomalies.total() > anomalies[Anomaly::completion_alone]) {
    return "the recording contradicts itself in places (see its anomalies)";
  }
  if (!recording.trace.initial.empty()) {
    return "the recording begins in the middle of a run: what was cached, used by other streams or "
           "how old it was is in no entry";
  }
  if (!conditions.device_memory) {
    return "the device's memory is not known: state it with --device-memory";
  }
  return "settings or chip are not what they were taken to be, or the model differs";
}

}  // namespace fragcast
