#include "replay/search/fit.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "replay/engine/parallel.hpp"
#include "replay/engine/replay.hpp"
#include "replay/engine/session.hpp"
#include "replay/search/fit_verdict.hpp"

namespace fragcast {
namespace {

/// Sizes on either side of what was found, in granules.
constexpr std::int64_t neighbours = 16;
/// A bracket of so many sizes is tried from end to end.
constexpr std::int64_t few_sizes = 256;
/// A device larger than 2^this many times what is plentiful helps nobody.
constexpr int most_doublings = 8;

/// A size in granules.
using Granules = std::int64_t;

/// What all searches of one trace share.
struct Question {
  const Trace& trace;
  const CompareOptions& options;
  const PriceList& prices;
  std::size_t points = 0;
};

/// The highest requested memory; requests that failed in the recording are to be served, too.
Bytes live_bytes(const Trace& trace) {
  Bytes live;
  Bytes most;
  std::vector<Bytes> sizes(trace.allocations.size());
  for (const SegmentPicture& segment : trace.initial.heap.segments) {
    for (const BlockPicture& block : segment.blocks) {
      if (!block.allocation) continue;
      sizes[block.allocation->index()] = block.requested;
      live += block.requested;
    }
  }
  const auto drop = [&](AllocationId id) {
    live -= sizes[id.index()];
    sizes[id.index()] = {};
  };
  for (const InitialState::Pending& pending : trace.initial.pending) drop(pending.allocation);
  most = live;
  for (const Event& event : trace.events) {
    if (event.kind == EventKind::deallocate) drop(event.allocation);
    if (event.kind != EventKind::allocate) continue;
    // Repeats of a failed request are one request.
    drop(event.allocation);
    sizes[event.allocation.index()] = event.size;
    live += event.size;
    most = std::max(most, live);
  }
  return most;
}

/// What the program itself would hold, with the changes that are asked for. Where `empty_cache` is
/// called does not matter to it.
Bytes live_bytes(const Question& question, const RunSpec& spec) {
  TraceChanges changes = question.options.changes;
  changes.empty_cache = KeepEmptyCache{};
  const ChangedTrace changed = change(question.trace, changes, spec);
  return live_bytes(changed.trace ? *changed.trace : question.trace);
}

bool changes_fraction(const Trace& trace) {
  return std::any_of(trace.controls.begin(), trace.controls.end(), [](const Control& call) {
    return std::holds_alternative<control::SetFraction>(call);
  });
}

/// Tries sizes under one setting and remembers what came of each.
class SizeSearch {
 public:
  SizeSearch(const Question& question, RunSpec spec)
      : question_{question}, spec_{std::move(spec)}, fixed_{fixed_changes()} {}

  /// Replays on a device that never runs out; nothing if the setting is refused, for `refusal()`.
  [[nodiscard]] std::optional<Run> replay_plentiful() {
    RunSpec spec = spec_;
    spec.device_memory = plentiful;
    if (resolve_conditions(question_.trace, spec_).fraction) spec.fraction = 1.0;
    spec.others = {};
    std::optional<Run> run = replay_one(spec, {});
    if (run->outcome != RunOutcome::refused) return run;
    refusal_ = run->reason;
    return std::nullopt;
  }
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

  /// All that are not known yet, side by side.
  void try_all(std::vector<Granules> sizes) {
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    std::erase_if(sizes, [this](Granules size) { return size <= 0 || points_.contains(size); });
    std::vector<FitPoint> found =
        parallel_map(sizes.size(), question_.options.threads, [&](std::size_t i) {
          return measure(sizes[i] * fit_granule);
        });
    for (std::size_t i = 0; i < sizes.size(); ++i) points_.emplace(sizes[i], found[i]);
  }
  [[nodiscard]] const FitPoint& at(Granules size) {
    try_all({size});
    return points_.at(size);
  }
  [[nodiscard]] const std::map<Granules, FitPoint>& points() const { return points_; }

 private:
  /// 16 TiB.
  static constexpr Bytes plentiful{std::int64_t{1} << 44};

  [[nodiscard]] std::optional<ChangedTrace> fixed_changes() const {
    const TraceChanges& changes = question_.options.changes;
    if (changes.depend_on_run()) return std::nullopt;
    return change(question_.trace, changes, spec_);
  }

  /// Changes that depend on the run are made for each run of its own.
  [[nodiscard]] std::optional<Run> replay_one(const RunSpec& spec, const Enough& enough) const {
    const ChangedTrace changed =
        fixed_ ? *fixed_ : change(question_.trace, question_.options.changes, spec);
    return replay_unless(changed.trace ? *changed.trace : question_.trace, spec, enough);
  }

  [[nodiscard]] FitPoint measure(Bytes size) const {
    RunSpec spec = spec_;
    spec.device_memory = size;
    FitPoint point{.device_memory = size};
    const auto fill = [&](const RunCounts& counts, Bytes peak_reserved) {
      point.retries = counts.alloc_retries;
      point.syncs = counts.syncs;
      point.device_allocs = counts.device_allocs;
      point.device_frees = counts.device_frees;
      point.peak_reserved = peak_reserved;
      point.cost = estimate(counts, question_.prices);
    };
    const auto run = replay_one(spec, [&](const Session& session) {
      const RunTotals totals = session.totals();
      const bool failed = totals.ooms + totals.oom_rejections > 0;
      if (failed) fill(counts_of(session), totals.peak.reserved);
      return failed;
    });
    if (!run) return point;
    point.completes = run->outcome == RunOutcome::completed;
    fill(run->counts, run->peak.reserved);
    return point;
  }

  const Question& question_;
  RunSpec spec_;
  std::optional<ChangedTrace> fixed_;
  std::map<Granules, FitPoint> points_;
  std::string refusal_;
};

/// The sizes between which the answer lies.
struct Bracket {
  Granules bound = 0;
  Granules plentiful = 0;
};

/// The least size that was tried and for which `holds`.
template <class Predicate>
std::optional<Granules> least_where(const SizeSearch& search, Predicate holds) {
  for (const auto& [size, point] : search.points()) {
    if (holds(point)) return size;
  }
  return std::nullopt;
}

/// Bisects, then tries the neighbourhood until nothing smaller turns up.
template <class Predicate>
void search_least(SizeSearch& search, Granules bound, Predicate holds) {
  for (auto best = least_where(search, holds); best;) {
    Granules fails = bound - 1;
    for (const auto& [size, point] : search.points()) {
      if (size < *best && !holds(point)) fails = std::max(fails, size);
    }
    Granules fits = *best;
    while (fits - fails > 1) {
      const Granules middle = fails + (fits - fails) / 2;
      (holds(search.at(middle)) ? fits : fails) = middle;
    }
    std::vector<Granules> around;
    for (Granules i = std::max(bound, fits - neighbours); i <= fits + neighbours; ++i) {
      around.push_back(i);
    }
    search.try_all(std::move(around));
    const auto next = least_where(search, holds);
    if (next == fits) return;
    best = next;
  }
}

void try_grid(SizeSearch& search, const Bracket& bracket, std::size_t points) {
  std::vector<Granules> grid;
  const Granules width = bracket.plentiful - bracket.bound;
  const auto steps = std::max<Granules>(1, static_cast<Granules>(points) - 1);
  for (Granules i = 0; i <= steps; ++i) grid.push_back(bracket.bound + width * i / steps);
  search.try_all(std::move(grid));
}

void try_every(SizeSearch& search, const Bracket& bracket) {
  std::vector<Granules> sizes;
  for (Granules i = bracket.bound; i <= bracket.plentiful; ++i) sizes.push_back(i);
  search.try_all(std::move(sizes));
}

/// A size at which the run completes without retries, if there is one within reach.
Granules find_plentiful(SizeSearch& search, Granules first) {
  Granules size = first;
  for (int i = 0; i < most_doublings && !search.at(size).completes_without_retries(); ++i) {
    size *= 2;
  }
  return size;
}

std::vector<FitHole> holes_above(const std::map<Granules, FitPoint>& points, Bytes least) {
  std::vector<FitHole> holes;
  bool open = false;
  for (const auto& [size, point] : points) {
    if (point.device_memory < least) continue;
    if (point.completes) {
      open = false;
    } else if (open) {
      holes.back().last = point.device_memory;
    } else {
      holes.push_back({point.device_memory, point.device_memory});
      open = true;
    }
  }
  return holes;
}

FitRow search_row(const Question& question, const PlannedRow& planned) {
  FitRow row;
  row.name = planned.spec.name;
  row.also = planned.also;
  const RunConditions conditions = resolve_conditions(question.trace, planned.spec);
  row.settings = conditions.settings;
  row.start = conditions.start;
  SizeSearch search{question, planned.spec};
  const std::optional<Run> free_run = search.replay_plentiful();
  if (!free_run) {
    row.refusal = search.refusal();
    return row;
  }
  row.peak_reserved = free_run->peak.reserved;
  // The limit that a fraction sets is of the whole device, others' part included.
  const double fraction =
      changes_fraction(question.trace) ? 1.0 : conditions.fraction.value_or(1.0);
  const auto whole = [&](Bytes size) {
    const auto limited = static_cast<std::int64_t>(
        std::ceil(static_cast<double>(size.count()) / std::max(fraction, 1e-9)));
    return std::max(size + planned.spec.others, Bytes{limited});
  };
  row.bound = round_up(whole(live_bytes(question, planned.spec)), fit_granule);
  Bracket bracket{.bound = std::max<Granules>(1, row.bound / fit_granule), .plentiful = 0};
  bracket.plentiful = find_plentiful(
      search,
      std::max(bracket.bound, round_up(whole(row.peak_reserved), fit_granule) / fit_granule));
  if (bracket.plentiful - bracket.bound <= few_sizes) {
    try_every(search, bracket);
    row.exhaustive = true;
  } else {
    try_grid(search, bracket, question.points);
    search_least(search, bracket.bound, [](const FitPoint& p) { return p.completes; });
    search_least(
        search, bracket.bound, [](const FitPoint& p) { return p.completes_without_retries(); });
  }
  const auto size_of = [](std::optional<Granules> size) {
    return size ? std::optional{*size * fit_granule} : std::nullopt;
  };
  row.least = size_of(least_where(search, [](const FitPoint& p) { return p.completes; }));
  row.least_without_retries =
      size_of(least_where(search, [](const FitPoint& p) { return p.completes_without_retries(); }));
  if (row.least) row.holes = holes_above(search.points(), *row.least);
  for (const auto& [size, point] : search.points()) row.tried.push_back(point);
  return row;
}

}  // namespace

const FitPoint* FitRow::at(std::optional<Bytes> size) const {
  if (!size) return nullptr;
  const auto found = std::find_if(tried.begin(), tried.end(), [&](const FitPoint& point) {
    return point.device_memory == *size;
  });
  return found == tried.end() ? nullptr : &*found;
}

FitStudy study_fit(const Subject& subject, const CompareOptions& options, std::size_t points) {
  FitStudy study;
  study.subject = &subject;
  study.others = options.others;
  study.fraction = options.fraction;
  const std::vector<PlannedRow> rows = planned_rows(subject, options);
  const RunConditions conditions = resolve_conditions(subject.trace(), rows.front().spec);
  study.pricing =
      choose_prices(*conditions.model, conditions.soc, options.profile, options.price_overrides);
  const Question question{.trace = subject.trace(),
                          .options = options,
                          .prices = study.pricing.prices,
                          .points = points};
  for (const PlannedRow& row : rows) study.rows.push_back(search_row(question, row));
  say_what_fits(study);
  return study;
}

}  // namespace fragcast
