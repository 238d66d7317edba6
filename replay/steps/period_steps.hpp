#pragma once

#include <optional>

#include "replay/trace/trace.hpp"

namespace fragcast {

/// Steps by requests that repeat: short runs of allocations (by call stack and size class, as
/// lengths may vary) of which there are equally many, at about equal distances, all over the trace.
/// The least number of them wins, since inner loops repeat more often; the earliest run begins a
/// step. Nothing if there is no such number.
[[nodiscard]] std::optional<Steps> steps_by_period(const Trace& trace);

}  // namespace fragcast
