#include "replay/search/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "replay/compare/remarks.hpp"
#include "replay/engine/parallel.hpp"
#include "replay/search/front.hpp"
#include "replay/search/tune_verdict.hpp"

namespace fragcast {
namespace {

/// After so many halvings of their steps, searches have come down to neighbouring values.
constexpr unsigned halvings = 8;
/// Points that a refinement goes out from, for each place of `empty_cache`.
constexpr std::size_t centres = 4;

using Choices = std::vector<Choice>;

double least_worst(std::span<const TunedPoint> points) {
  double least = points.front().standing.worst;
  for (const TunedPoint& point : points) least = std::min(least, point.standing.worst);
  return least;
}

/// What decides between points that fail equally often, the first difference first: less is better.
using Rank = std::array<double, 5>;

Rank rank_of(const Standing& standing, Objective objective, double close) {
  const double mid = standing.cost.mid.count();
  const auto waits = static_cast<double>(standing.cost.waits);
  const Rank by_memory{1, standing.worst, standing.total, mid, waits};
  const Rank by_time{0, mid, waits, standing.worst, standing.total};
  switch (objective) {
    case Objective::memory:
      return by_memory;
    case Objective::time:
      return by_time;
    case Objective::balanced:
      return standing.worst <= close ? by_time : by_memory;
  }
  return {};
}

/// Points in the order of an objective, the best first. All fail equally often.
std::vector<TunedPoint> ranked(std::span<const TunedPoint> points, Objective objective) {
  const double close = balanced_margin * least_worst(points);
  std::vector<TunedPoint> order{points.begin(), points.end()};
  std::sort(order.begin(), order.end(), [&](const TunedPoint& a, const TunedPoint& b) {
    const Rank rank_a = rank_of(a.standing, objective, close);
    const Rank rank_b = rank_of(b.standing, objective, close);
    return rank_a != rank_b ? rank_a < rank_b : plainer(a, b);
  });
  return order;
}

/// Whether a point is worth a change from what is set now.
bool improves(const TunedPoint& point, const TunedPoint& now, Objective objective) {
  const Standing& a = point.standing;
  const Standing& b = now.standing;
  if (a.failures != b.failures) return a.failures < b.failures;
  // What runs come to that go on without what they did not get means little.
  if (a.failures > 0) return false;
  const bool cheaper = is_cheaper(a.cost, b.cost) == Cheaper::yes;
  if (objective == Objective::time) return cheaper;
  const bool less = std::tie(a.worst, a.total) < std::tie(b.worst, b.total);
  const bool equal = a.worst == b.worst && a.total == b.total;
  if (objective == Objective::balanced) return less || cheaper;
  return less || (equal && cheaper);
}

/// What an allocator may hold: what others leave of the device, up to the limit of a fraction.
std::optional<Bytes> capacity_of(const RunConditions& conditions) {
  const std::optional<Bytes> limit = limit_of(conditions);
  if (!conditions.device_memory) return limit;
  const Bytes left = *conditions.device_memory - conditions.others;
  return limit ? std::min(*limit, left) : left;
}

/// One search in progress.
class Search {
 public:
  Search(Workload& workload, const TuneOptions& options)
      : workload_{workload}, options_{options}, release_{workload.release()} {}

  Tuning run() {
    allowed_ = options_.points;
    measure_now();
    const Grid grid{basis()};
    try_advice(grid);
    // First the settings alone, so that a search over places as well finds no less than one
    // without, unless it takes more than half of the points.
    const bool places = workload_.placements().size() > 1;
    allowed_ = places ? options_.points / 2 : options_.points;
    attempt(as_choices(grid.coarse(), 0));
    refine_to_the_end(grid, Moved::settings);
    allowed_ = options_.points;
    if (places) {
      attempt(elsewhere(grid));
      refine_to_the_end(grid, Moved::settings_and_places);
    }
    conclude();
    return std::move(tuning_);
  }

 private:
  /// What is set now, as recorded and started cold; peaks count in units of the latter.
  void measure_now() {
    const bool warm = workload_.any_warm();
    std::vector<TunedPoint> points =
        parallel_map(warm ? 2 : 1, options_.run.threads, [&](std::size_t i) {
          return *workload_.evaluate(Choice{}, {.start = i == 0 ? Start::cold : Start::warm}, {});
        });
    set_units(points.front());
    tuning_.peaks = workload_.size() == 1 || workload_.shared_memory() ? PeakUnit::bytes
                                                                       : PeakUnit::share_of_now;
    for (TunedPoint& point : points) point.standing = workload_.standing_of(point);
    if (warm) tuning_.recorded = points.back();
    tuning_.now = std::move(points.front());
    ++tuning_.tried;
    if (const auto recorded = recorded_settings()) {
      // Its only spelling from here on.
      tuning_.now.settings = *recorded;
      tried_.insert({*recorded, 0});
      front_.add(tuning_.now);
    } else {
      // No setting that could be recommended for all.
      tuning_.now.settings = each_as_recorded;
    }
  }

  /// Ranks of one job run on equal devices, where the largest counts. Where devices differ, or are
  /// not known, each trace counts against its own peak now.
  void set_units(const TunedPoint& now) {
    const bool absolute = workload_.size() > 1 && workload_.shared_memory();
    std::vector<Bytes> units;
    for (const TunedRun& run : now.runs) units.push_back(absolute ? 1_B : run.peak_reserved);
    workload_.set_units(std::move(units));
  }

  /// The recorded settings in the one spelling, if all traces have the same.
  [[nodiscard]] std::optional<std::string> recorded_settings() const {
    std::set<std::optional<std::string>> all;
    for (std::size_t i = 0; i < workload_.size(); ++i) {
      all.insert(spelt(release_, workload_.conditions(i).settings));
    }
    return all.size() == 1 ? *all.begin() : std::nullopt;
  }

  [[nodiscard]] GridBasis basis() {
    GridBasis basis{.release = &release_,
                    .recorded = workload_.conditions(0).settings,
                    .sizes = {},
                    .reserved_peak = {},
                    .limit = limit_of(workload_.conditions(0)),
                    .device_memory = workload_.shared_memory(),
                    .keys = options_.keys};
    for (std::size_t i = 0; i < workload_.size(); ++i) {
      const SizeProfile sizes =
          profile_sizes(workload_.trace(i), padding_of(workload_.conditions(i)));
      tuning_.live_peak.push_back(sizes.live_peak);
      tuning_.capacity.push_back(capacity_of(workload_.conditions(i)));
      basis.sizes = joined(basis.sizes, sizes);
      basis.reserved_peak = std::max(basis.reserved_peak, tuning_.now.runs[i].peak_reserved);
    }
    return basis;
  }

  /// Advice in circulation and the user's own settings: none of them is abandoned, as it is to be
  /// told what they come to.
  void try_advice(const Grid& grid) {
    std::vector<std::optional<std::string>> texts;
    for (const NamedSettings& own : options_.run.settings) {
      tuning_.advised.push_back({.name = own.name, .users_own = true});
      texts.push_back(spelt(release_, own.text));
    }
    for (const std::string_view advice : popular_settings()) {
      // What the allocator refuses is nobody's advice here.
      const std::optional<std::string> text = grid.with(advice);
      if (!text) continue;
      tuning_.advised.push_back({.name = std::string{advice}});
      texts.push_back(text);
    }
    Choices choices;
    for (const auto& text : texts) choices.push_back({.settings = text});
    std::map<std::string, TunedPoint> points{{tuning_.now.settings, tuning_.now}};
    for (TunedPoint& point : finish(choices)) points[point.settings] = std::move(point);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto found = texts[i] ? points.find(*texts[i]) : points.end();
      if (found != points.end()) tuning_.advised[i].point = found->second;
    }
  }

  /// What a refinement changes of its centres.
  enum class Moved : std::uint8_t { settings, settings_and_places };

  static Choices as_choices(std::vector<std::string> texts, std::size_t placement) {
    Choices choices;
    for (std::string& text : texts) {
      choices.push_back({.settings = std::move(text), .placement = placement});
    }
    return choices;
  }

  /// Some settings with `empty_cache` in all other places.
  [[nodiscard]] Choices elsewhere(const Grid& grid) const {
    Choices choices;
    for (std::size_t placement = 1; placement < workload_.placements().size(); ++placement) {
      for (const char* text : {"", "expandable_segments:True"}) {
        choices.push_back({.settings = grid.with(text), .placement = placement});
      }
      choices.push_back({.settings = recorded_settings(), .placement = placement});
    }
    return choices;
  }

  /// Once steps are as small as they get, as long as there is something new to try.
  void refine_to_the_end(const Grid& grid, Moved moved) {
    for (unsigned round = 0; refine(grid, round, moved) || round < halvings; ++round) {
    }
  }

  /// Tries what lies around the best points; whether there was something.
  bool refine(const Grid& grid, unsigned round, Moved moved) {
    Choices choices;
    std::map<std::string, std::size_t> taken;
    for (const TunedPoint& centre : ranked(front_.points(), options_.objective)) {
      if (++taken[centre.empty_cache] > centres) continue;
      Choices around = as_choices(grid.around(centre.settings, round), placement_of(centre));
      choices.insert(choices.end(), around.begin(), around.end());
      if (moved == Moved::settings) continue;
      for (std::size_t placement = 0; placement < workload_.placements().size(); ++placement) {
        choices.push_back({.settings = centre.settings, .placement = placement});
      }
    }
    return attempt(choices);
  }

  [[nodiscard]] std::size_t placement_of(const TunedPoint& point) const {
    const auto names = workload_.placements();
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), point.empty_cache) -
                                    names.begin());
  }

  /// Those not tried yet, as many as may still be.
  Choices untried(const Choices& choices) {
    Choices chosen;
    for (const Choice& choice : choices) {
      if (!choice.settings || tried_.contains({*choice.settings, choice.placement})) continue;
      if (tuning_.tried >= static_cast<std::int64_t>(allowed_)) {
        tuning_.cut_short = true;
        break;
      }
      tried_.insert({*choice.settings, choice.placement});
      ++tuning_.tried;
      chosen.push_back(choice);
    }
    return chosen;
  }

  /// Tries what was not tried, to the end.
  std::vector<TunedPoint> finish(const Choices& choices) {
    const Choices chosen = untried(choices);
    if (chosen.empty()) return {};
    ++tuning_.rounds;
    std::vector<TunedPoint> points =
        parallel_map(chosen.size(), options_.run.threads, [&](std::size_t i) {
          return *workload_.evaluate(chosen[i], {}, {});
        });
    for (const TunedPoint& point : points) front_.add(point);
    return points;
  }

  /// Tries what was not tried. Only what earlier rounds found ends a run early, so that it makes no
  /// difference which run of a round ends first. Returns whether there was anything.
  bool attempt(const Choices& choices) {
    const Choices chosen = untried(choices);
    if (chosen.empty()) return false;
    ++tuning_.rounds;
    const bool abandon = options_.beaten == Beaten::abandoned;
    const std::vector<TunedPoint> rivals{front_.points().begin(), front_.points().end()};
    auto points = parallel_map(chosen.size(), options_.run.threads, [&](std::size_t i) {
      return workload_.evaluate(
          chosen[i], {}, abandon ? std::span{rivals} : std::span<const TunedPoint>{});
    });
    for (std::optional<TunedPoint>& point : points) {
      if (point) {
        front_.add(*std::move(point));
      } else {
        ++tuning_.abandoned;
      }
    }
    return true;
  }

  /// The best that is worth a change. Where several reserve as little, a plainer one gives way only
  /// to one that is cheaper at all prices.
  [[nodiscard]] std::optional<TunedPoint> recommend() const {
    std::optional<TunedPoint> best;
    for (const TunedPoint& point : ranked(front_.points(), options_.objective)) {
      if (!improves(point, tuning_.now, options_.objective)) continue;
      if (!best) best = point;
      if (options_.objective != Objective::memory) break;
      const Standing& a = point.standing;
      const Standing& b = best->standing;
      if (a.worst != b.worst || a.total != b.total) break;
      if (plainer(point, *best) && is_cheaper(b.cost, a.cost) != Cheaper::yes) best = point;
    }
    return best;
  }

  void conclude() {
    tuning_.front = ranked(front_.points(), Objective::memory);
    tuning_.recommended = recommend();
    if (tuning_.recommended) {
      const Choice recommended{.settings = tuning_.recommended->settings,
                               .placement = placement_of(*tuning_.recommended)};
      tuning_.robustness = check_robustness(workload_, Choice{}, recommended, options_.run.threads);
    }
  }

  Workload& workload_;
  const TuneOptions& options_;
  const ModelRelease& release_;
  Tuning tuning_;
  Front front_;
  /// So many points at most, for now.
  std::size_t allowed_ = 0;
  /// Settings and placement.
  std::set<std::pair<std::string, std::size_t>> tried_;
};

void require_settings(const Workload& workload) {
  if (workload.release().settings != nullptr) return;
  throw InputError{{.file = workload.subject(0).source.file, .line = {}, .byte = {}},
                   fmt::format("{} has no settings to search", workload.model().name)};
}

/// Why an allocator does not start with a settings string.
std::string refusal_of(const Workload& workload, const std::string& text) {
  RunConditions conditions = workload.conditions(0);
  Device device{{}};
  return conditions.release().make({.settings = text, .soc = conditions.soc}, device).refusal;
}

}  // namespace

Tuning tune(std::span<const Subject> subjects, const TuneOptions& options) {
  Workload workload{subjects, options.run, options.empty_cache};
  require_settings(workload);
  Tuning tuning = Search{workload, options}.run();
  for (const Subject& subject : subjects) tuning.subjects.push_back(&subject);
  tuning.model = &workload.model();
  tuning.release = &workload.release();
  tuning.pricing = workload.pricing();
  tuning.objective = options.objective;
  for (std::size_t i = 0; i < options.run.settings.size(); ++i) {
    AdvisedSetting& own = tuning.advised[i];
    if (!own.point) own.refusal = refusal_of(workload, options.run.settings[i].text);
  }
  tuning.verdict = pass_verdict(tuning);
  return tuning;
}

}  // namespace fragcast
