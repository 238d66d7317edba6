#pragma once

#include <vector>

#include "replay/trace/trace.hpp"
#include "replay/transforms/changes.hpp"

namespace fragcast {

/// Where `empty_cache` might be called in all of these traces, beside where it is called now: not
/// at all, if it is called anywhere; at each step's end, every second one, and before the longest
/// step, if all have steps.
[[nodiscard]] std::vector<EmptyCachePlan> emptying_choices(const std::vector<const Trace*>& traces);

}  // namespace fragcast
