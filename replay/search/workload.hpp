#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replay/compare/compare.hpp"
#include "replay/search/standing.hpp"

namespace fragcast {

/// Whether a search moves the `empty_cache` calls as well.
enum class EmptyCacheSearch : std::uint8_t { as_given, several_places };

/// Settings, and one of the places for `empty_cache` (an index into Workload::placements()).
struct Choice {
  /// Absent: each trace has its recorded ones.
  std::optional<std::string> settings;
  std::size_t placement = 0;
};

/// What is other than in the search itself when a choice is tried once more.
struct Variation {
  /// Warm: only for the recorded settings of a recording.
  Start start = Start::cold;
  double size_factor = 1;
  /// Of the device's memory, where that is known.
  double memory_share = 1;
};

/// What choices are tried on: traces of one allocator, each with the run that it was made by. It
/// points to its subjects, which must outlive it. Once made it only answers, to several threads.
class Workload {
 public:
  /// Throws InputError where there is nothing to simulate, the allocator refuses to start as it was
  /// recorded, or the traces are of several allocators.
  Workload(std::span<const Subject> subjects,
           const CompareOptions& options,
           EmptyCacheSearch where);

  [[nodiscard]] std::size_t size() const { return prepared_.size(); }
  [[nodiscard]] const Subject& subject(std::size_t i) const { return subjects_[i]; }
  [[nodiscard]] const Trace& trace(std::size_t i) const { return prepared_[i].trace(); }
  [[nodiscard]] const ModelEntry& model() const { return *prepared_.front().spec().model; }
  [[nodiscard]] const ModelRelease& release() const { return conditions(0).release(); }
  [[nodiscard]] const Pricing& pricing() const { return pricing_; }
  /// Under the recorded settings, started cold.
  [[nodiscard]] RunConditions conditions(std::size_t i) const;
  /// The device's memory, if all traces have the same.
  [[nodiscard]] std::optional<Bytes> shared_memory() const;
  /// Whether a trace has a heap to start from that the recorded settings can be given.
  [[nodiscard]] bool any_warm() const;
  /// How they are called; the first is as the user wants it.
  [[nodiscard]] std::span<const std::string> placements() const { return placement_names_; }

  /// The units of standings: a trace's peak reserved counts in its own.
  void set_units(std::vector<Bytes> units) { units_ = std::move(units); }
  /// How a point stands in these units.
  [[nodiscard]] Standing standing_of(const TunedPoint& point) const;

  /// Tries a choice on one trace after the other, until something in `rivals` beats it, which is
  /// nothing. A refused start is a failure of its own.
  [[nodiscard]] std::optional<TunedPoint> evaluate(const Choice& choice,
                                                   const Variation& variation,
                                                   std::span<const TunedPoint> rivals) const;

 private:
  [[nodiscard]] Bytes unit_of(std::size_t i) const {
    return i < units_.size() ? units_[i] : Bytes{1};
  }
  /// Throws InputError where the recorded settings or the start are refused.
  void require_start(std::size_t i) const;
  void add_placement(const TraceChanges& changes);
  [[nodiscard]] RunSpec spec_of(std::size_t i,
                                const Choice& choice,
                                const Variation& variation) const;
  /// What a choice replays; null: the subject's own trace.
  [[nodiscard]] std::shared_ptr<const Trace> trace_of(std::size_t i,
                                                      const Choice& choice,
                                                      const Variation& variation,
                                                      const RunSpec& spec) const;

  std::span<const Subject> subjects_;
  std::vector<PreparedRun> prepared_;
  /// By placement.
  std::vector<TraceChanges> changes_;
  std::vector<std::string> placement_names_;
  /// By placement and trace; empty where the placement depends on the run.
  std::vector<std::vector<ChangedTrace>> changed_;
  Pricing pricing_;
  std::vector<Bytes> units_;
};

}  // namespace fragcast
