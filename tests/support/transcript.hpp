#pragma once

#include <vector>

#include "policies/registry.hpp"
#include "replay/trace/trace.hpp"
#include "sim/device/device.hpp"
#include "sim/observe/event_log.hpp"
#include "sim/observe/layout.hpp"
#include "sim/observe/statistics.hpp"

namespace fragcast {

/// Everything of a run by which two runs can be compared. Allocations have no names in it.
struct Transcript {
  std::vector<Extent> placements;
  EventLog log;
  Layout layout;
  Usage peak;
  DeviceCounters device;
};

/// Replays a trace under its own conditions.
[[nodiscard]] Transcript transcript_of(const Trace& trace, const ModelEntry& model);

[[nodiscard]] bool is_same(const Transcript& a, const Transcript& b);

}  // namespace fragcast
