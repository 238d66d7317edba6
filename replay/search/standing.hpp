#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/compare/cost.hpp"
#include "sim/core/bytes.hpp"

namespace fragcast {

/// What one simulation of a search came to: all of it that is kept.
struct TunedRun {
  /// Requests that found no memory, initial blocks included.
  std::int64_t failures = 0;
  Bytes peak_reserved;
  Bytes peak_allocated;
  CostEstimate cost;
  std::int64_t device_allocs = 0;
  std::int64_t device_frees = 0;
  std::int64_t syncs = 0;
  std::int64_t retries = 0;
};

/// How good a choice is over all traces. None of this falls while a run goes on.
struct Standing {
  std::int64_t failures = 0;
  /// Of peak reserved, each trace's in the unit that a search gives it: the highest of all traces
  /// first, then their sum.
  double worst = 0;
  double total = 0;
  /// Of all traces together.
  CostEstimate cost;

  /// Adds what one trace came to; `unit` is one of its peak reserved memory.
  void add(const TunedRun& run, Bytes unit);
};

/// Whether a choice that stands at `a` makes one that stands at `b` pointless: it fails less often;
/// or as often, and is no worse in any respect and better in one, at low, mid and high prices.
/// Where it does while `b` is on its way, it does at the end.
[[nodiscard]] bool beats(const Standing& a, const Standing& b);

/// Whether both came to the same.
[[nodiscard]] bool same(const Standing& a, const Standing& b);

/// One choice, and what it came to.
struct TunedPoint {
  /// As the allocator's environment variable would hold them.
  std::string settings;
  /// Where `empty_cache` is called, as ChangedTrace has it.
  std::string empty_cache = "keep";
  /// By trace.
  std::vector<TunedRun> runs;
  Standing standing;
  /// Other choices that came to the same.
  std::int64_t equals = 0;
};

}  // namespace fragcast
