#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/compare/compare.hpp"
#include "replay/compare/cost.hpp"
#include "replay/compare/pins.hpp"
#include "replay/compare/pricing.hpp"
#include "replay/engine/run.hpp"
#include "replay/load/subject.hpp"
#include "replay/search/best_place.hpp"
#include "replay/search/placements.hpp"

namespace fragcast {

/// One call of `empty_cache` in a simulated run.
struct EmptyingCall {
  /// Its event in the trace that was replayed.
  std::size_t event = 0;
  /// How many requests came before it.
  std::uint64_t request = 0;
  /// The step it falls into or ends; 0: before the first, or there are no steps.
  std::size_t step = 0;
  /// What reserved memory lost by it.
  Bytes given_back;
  /// By how much reserved memory grew again until the next call, or the end.
  Bytes asked_again;
};

/// A placement of calls, simulated.
struct TriedPlacement {
  CallPlacement placement;
  /// Names of others that make the same calls.
  std::vector<std::string> also;
  /// What was replayed.
  ChangedTrace changed;
  /// Its series is gone, but for `reserved`.
  Run run;
  /// In order of the trace.
  std::vector<EmptyingCall> calls;
  /// Mean over the trace's requests, each counted once as a trace has no clock; of whole 512 bytes.
  Bytes mean_reserved;
  CostEstimate cost;
  /// Where the first call that gives back nothing comes, who pins what is unused there.
  std::vector<Pin> pins;
  /// After each event, if the caller asked for it.
  std::vector<Bytes> reserved;

  [[nodiscard]] Bytes given_back() const;
  [[nodiscard]] std::size_t calls_in_vain() const;
};

/// What there is to say about where `empty_cache` should go.
struct PlacementStudy {
  const Subject* subject = nullptr;
  /// The first makes no call.
  std::vector<TriedPlacement> tried;
  Pricing pricing;
  BestPlace best_place;
  /// An index into `tried`; 0: make no call.
  std::size_t recommended = 0;
  /// One plain sentence each, the recommendation first.
  std::vector<std::string> verdict;

  [[nodiscard]] const Trace& trace_of(const TriedPlacement& tried_one) const {
    return tried_one.changed.trace ? *tried_one.changed.trace : subject->trace();
  }
};

/// Tries the sensible placements, those that the options ask for, and the best single place.
/// `keep` says whether reserved memory after each event is kept. Throws InputError where there is
/// nothing to replay or a placement has no place, and UsageError's sentence as InputError where the
/// settings are refused.
[[nodiscard]] PlacementStudy study_placements(const Subject& subject,
                                              const std::optional<NamedSettings>& settings,
                                              const CompareOptions& options,
                                              KeepSeries keep);

}  // namespace fragcast
