#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "replay/engine/run.hpp"
#include "replay/engine/run_spec.hpp"
#include "replay/trace/trace.hpp"

namespace fragcast {

/// Where one single call of `empty_cache` does most.
struct BestPlace {
  /// The call comes after so many of the trace's requests. Absent: at none of the places tried
  /// does one call let the run complete that would not, or lower its peak.
  std::optional<std::uint64_t> request;
  /// How many places were tried.
  std::size_t tried = 0;
};

/// Tries one call, in a trace that has none, between any two moments at which reserved memory
/// grows in `without_calls` (a run of it that kept its series): there where least of it is
/// allocated. Of more than 64 such places, the 64 with most unused memory. The best completes,
/// reaches the lowest peak, needs the fewest device allocations, and comes first. The answer is the
/// same for any number of threads.
[[nodiscard]] BestPlace find_best_place(const Trace& trace,
                                        const RunSpec& spec,
                                        const Run& without_calls,
                                        unsigned threads);

}  // namespace fragcast
