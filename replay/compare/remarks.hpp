#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "replay/engine/run.hpp"
#include "replay/trace/note.hpp"
#include "replay/trace/trace.hpp"

namespace fragcast {

/// What of a trace decides whether a setting is of use.
struct TraceFacts {
  /// Of a request, those that the trace began with included.
  Bytes largest_request;
  /// Of the heap that the trace began with.
  Bytes largest_initial_segment;
  /// Bit k: 2^k bytes were asked for.
  std::uint64_t powers_of_two = 0;
  /// The trace changes settings or the memory fraction.
  bool changes_at_run_time = false;
};

/// What the allocator may hold, if a fraction says so. For NPUs a fraction of 1 lifts the limit.
[[nodiscard]] std::optional<Bytes> limit_of(const RunConditions& conditions);

/// What is added to every request before rounding.
[[nodiscard]] Bytes padding_of(const RunConditions& conditions);

[[nodiscard]] TraceFacts facts_of(const Trace& trace);

/// What is to be said of the settings of a run, of a refused one too.
[[nodiscard]] std::vector<Note> remarks_on(const RunConditions& conditions,
                                           const TraceFacts& facts);

}  // namespace fragcast
