#pragma once

#include <cstddef>
#include <vector>

#include "replay/trace/trace.hpp"

namespace fragcast {

/// Whether an event of the trace is a call of `empty_cache`, of one pool or of all.
[[nodiscard]] bool is_empty_cache(const Trace& trace, const Event& event);

/// A trace after a transform, and what the transform did to its `empty_cache` calls.
struct EmptyCacheChange {
  Trace trace;
  std::size_t dropped = 0;
  std::size_t inserted = 0;
};

/// The trace without its `empty_cache` calls (those of one pool included), and with one after each
/// number of events in `positions`. The device addresses of the recording go: they belong to what
/// was recorded.
[[nodiscard]] EmptyCacheChange replace_empty_cache(const Trace& trace,
                                                   std::vector<std::size_t> positions);

}  // namespace fragcast
