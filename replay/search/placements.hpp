#pragma once

#include <string>
#include <vector>

#include "replay/engine/run.hpp"
#include "replay/trace/trace.hpp"
#include "replay/transforms/changes.hpp"

namespace fragcast {

/// A way to place `empty_cache` calls, under a name for people.
struct CallPlacement {
  std::string name;
  EmptyCachePlan plan;
};

/// What it is like to make no call at all.
[[nodiscard]] CallPlacement no_calls();

/// Whether a trace calls `empty_cache`, of one pool or of all.
[[nodiscard]] bool calls_empty_cache(const Trace& trace);

/// The placements worth trying on a trace: the recorded calls, where there are any; every step and
/// every few steps; before the steps that need most; at marks; and, as a policy in the training
/// loop would, after steps that leave much unused. Thresholds come from `without_calls`, a run of
/// the trace without calls that kept its series. A trace without steps is cut into ten parts of as
/// many requests.
[[nodiscard]] std::vector<CallPlacement> sensible_placements(const Trace& trace,
                                                             const Trace& trace_without_calls,
                                                             const Run& without_calls);

}  // namespace fragcast
