#pragma once

#include <cstdint>
#include <vector>

#include "replay/engine/run_spec.hpp"
#include "replay/trace/trace.hpp"
#include "sim/core/bytes.hpp"

namespace fragcast {

/// Bytes that were requested in a step and outlive it, by what becomes of their kind: allocations
/// of one call site and size.
struct Survivors {
  /// Made in this step only, or not in every one: optimiser state, caches that fill once.
  Bytes once;
  /// Their kind has new ones that stay in every full step after the first: it grows.
  Bytes growing;
  /// Freed within the following step: prefetched, or held by references that go late.
  Bytes carried;
};

/// What one step came to.
struct StepRow {
  /// Numbers of its first and last request; `last_request` < `first_request` if it has none.
  std::uint64_t first_request = 0;
  std::uint64_t last_request = 0;
  Bytes peak_allocated;
  Bytes peak_reserved;
  /// Reserved less requested, where reserved is highest within the step.
  Bytes gap_at_peak;
  /// Segments and stretches got from the device.
  std::int64_t device_allocs = 0;
  /// Requested bytes of the allocations live when it ends.
  Bytes live_at_end;
  Survivors survivors;
};

/// The steps of a trace, simulated under `conditions`. `before` is what lies before the first.
struct StepTable {
  StepRow before;
  std::vector<StepRow> steps;
};

/// Throws InputError if the model refuses the conditions.
[[nodiscard]] StepTable measure_steps(const Trace& trace, const RunConditions& conditions);

}  // namespace fragcast
