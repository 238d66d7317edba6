#pragma once

#include <cstddef>
#include <vector>

#include "replay/trace/trace.hpp"

namespace fragcast {

/// The highest requested memory within each step, requests that failed when they were recorded
/// included. It is the program's own need: no allocator changes it.
[[nodiscard]] std::vector<Bytes> step_needs(const Trace& trace);

/// Numbers of the steps, from 1, those that need most first; of equals the earlier.
[[nodiscard]] std::vector<std::size_t> steps_by_need(const Trace& trace);

}  // namespace fragcast
