#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replay/compare/compare.hpp"
#include "replay/search/grid.hpp"
#include "replay/search/robustness.hpp"
#include "replay/search/standing.hpp"
#include "replay/search/workload.hpp"

namespace fragcast {

/// What is best among choices that fail equally often.
enum class Objective : std::uint8_t {
  memory,    ///< least peak reserved; then least estimated device time, where prices agree on it
  time,      ///< least estimated device time, and at low, mid and high prices less than now
  balanced,  ///< the least device time among those at most 5 % above the least peak reserved
};

/// How much above the least peak reserved a balanced choice may be.
inline constexpr double balanced_margin = 1.05;

/// In the place of settings, where traces were recorded under several.
inline constexpr const char* each_as_recorded = "each as recorded";

/// What becomes of a point that is beaten while it runs.
enum class Beaten : std::uint8_t {
  abandoned,
  finished,  ///< for tests: the answer is the same
};

struct TuneOptions {
  /// Conditions, prices, changes of the trace, and settings of the user's own to try.
  CompareOptions run;
  Objective objective = Objective::memory;
  SettingKeys keys = SettingKeys::usual;
  EmptyCacheSearch empty_cache = EmptyCacheSearch::as_given;
  /// So many simulations of all traces at most, robustness aside.
  std::size_t points = 300;
  Beaten beaten = Beaten::abandoned;
};

/// A setting that people are told to use, or the user's own, against now.
struct AdvisedSetting {
  std::string name;
  bool users_own = false;
  /// Absent: the allocator refuses it, or the number of points ended the search before.
  std::optional<TunedPoint> point = {};
  /// In the allocator's words.
  std::string refusal = {};
};

/// What peak reserved memory of several traces is compared by.
enum class PeakUnit : std::uint8_t {
  bytes,         ///< the largest: there is one trace, or all run on devices of the same size
  share_of_now,  ///< each against its own under the recorded settings
};

/// What a search found. Plain data; it points to its subjects, which must outlive it.
struct Tuning {
  std::vector<const Subject*> subjects;
  const ModelEntry* model = nullptr;
  const ModelRelease* release = nullptr;
  Pricing pricing;
  Objective objective = Objective::memory;
  PeakUnit peaks = PeakUnit::bytes;

  std::int64_t tried = 0;
  std::int64_t abandoned = 0;
  std::int64_t rounds = 0;
  /// Whether the number of points ended the search.
  bool cut_short = false;

  /// The recorded settings, as recorded: absent where there was nothing to start from.
  std::optional<TunedPoint> recorded;
  /// The recorded settings, started cold as all others are: what those are held against.
  TunedPoint now;
  /// By trace: what the allocator may hold, where that is known, and the most bytes live at once.
  std::vector<std::optional<Bytes>> capacity;
  std::vector<Bytes> live_peak;

  /// What nothing beats, by peak reserved.
  std::vector<TunedPoint> front;
  /// Absent: nothing is better than now.
  std::optional<TunedPoint> recommended;
  std::vector<AdvisedSetting> advised;
  /// Empty where nothing is recommended.
  std::vector<Robustness> robustness;
  /// One plain sentence each, the most important first.
  std::vector<std::string> verdict;
};

/// Searches for the settings that suit all traces best. The result is the same for any number of
/// threads, and does not hold more for more points. Throws InputError as Workload does, and where
/// the allocator has no settings.
[[nodiscard]] Tuning tune(std::span<const Subject> subjects, const TuneOptions& options);

}  // namespace fragcast
