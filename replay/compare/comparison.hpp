#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replay/compare/cost.hpp"
#include "replay/compare/pins.hpp"
#include "replay/compare/pricing.hpp"
#include "replay/engine/run.hpp"
#include "replay/load/subject.hpp"
#include "replay/trace/note.hpp"
#include "replay/transforms/changes.hpp"
#include "replay/verify/verify.hpp"

namespace fragcast {

/// What a row of a comparison is held against.
struct Difference {
  /// Index into Comparison::runs.
  std::size_t reference = 0;
  Bytes peak_reserved;
};

/// One simulation, and what a comparison adds to it.
struct ComparedRun {
  Run run;
  /// Further names of the same settings, whose simulation would be the same.
  std::vector<std::string> also;
  /// What was replayed, where that is not the subject's trace as it is, and what became of the
  /// recorded `empty_cache` calls.
  ChangedTrace changed;
  /// Absent for the references themselves, and for refused rows.
  std::optional<Difference> difference;
  /// Who pins most at the reserved peak.
  std::vector<Pin> pins;
  /// At Comparison::pricing; absent for refused rows.
  std::optional<CostEstimate> cost;
  /// What is to be said of the settings: why they are refused, or do nothing.
  std::vector<Note> diagnostics;

  [[nodiscard]] bool refused() const { return run.outcome == RunOutcome::refused; }
};

/// Several simulations of one device's trace, side by side. Plain data; it points to its subject,
/// which must outlive it.
struct Comparison {
  const Subject* subject = nullptr;
  /// How well the recorded settings reproduce the recording; absent where nothing was recorded, or
  /// the model is another allocator's.
  std::optional<Verification> fidelity;
  std::vector<ComparedRun> runs;
  /// What device calls are estimated to take; of no interest without runs.
  Pricing pricing;
  /// Bytes that were cached, free in reserved memory, when the trace began. Rows that start cold
  /// cannot know them; they are held against a cold control.
  Bytes initially_cached;
  /// One plain sentence each, the most important first.
  std::vector<std::string> verdict;

  /// What a run replayed: the events that it counts are this trace's.
  [[nodiscard]] const Trace& trace_of(const ComparedRun& run) const {
    return run.changed.trace ? *run.changed.trace : subject->trace();
  }
};

}  // namespace fragcast
