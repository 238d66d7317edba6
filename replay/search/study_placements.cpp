#include "replay/search/study_placements.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "replay/engine/parallel.hpp"
#include "replay/engine/replay.hpp"
#include "replay/search/placement_advice.hpp"
#include "replay/transforms/empty_cache.hpp"

namespace fragcast {
namespace {

constexpr std::size_t pins_shown = 3;

bool is_request(const Event& event) {
  return event.kind == EventKind::allocate || event.kind == EventKind::deallocate;
}

/// Takes a run with its series apart by its calls.
void look_at_calls(const Trace& trace, TriedPlacement& tried) {
  const std::vector<Usage>& series = tried.run.series;
  Bytes before;
  for (const SegmentPicture& segment : trace.initial.heap.segments) before += segment.size;
  std::uint64_t requests = 0;
  std::size_t step = 0;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const Event& event = trace.events[i];
    const Bytes reserved = series[i].reserved;
    while (step < trace.steps.count() && trace.steps.begins[step] <= i) ++step;
    if (is_empty_cache(trace, event)) {
      tried.calls.push_back({.event = i,
                             .request = requests,
                             .step = step,
                             .given_back = before - reserved,
                             .asked_again = {}});
    } else if (reserved > before && !tried.calls.empty()) {
      tried.calls.back().asked_again += reserved - before;
    }
    if (is_request(event)) {
      ++requests;
      // In units of 512 bytes no sum of a trace overflows.
      sum += reserved / Bytes{512};
    }
    before = reserved;
  }
  if (requests > 0) {
    tried.mean_reserved = Bytes{sum / static_cast<std::int64_t>(requests) * 512};
  }
}

/// Who pins memory where a call gives back nothing although some is unused.
void look_at_pins(const Trace& trace, const RunSpec& spec, TriedPlacement& tried) {
  const auto in_vain =
      std::find_if(tried.calls.begin(), tried.calls.end(), [&](const EmptyingCall& call) {
        const Usage& usage = tried.run.series[call.event];
        return call.given_back == Bytes{0} && usage.reserved > usage.allocated;
      });
  if (in_vain == tried.calls.end()) return;
  tried.pins = find_pins(layout_at(trace, spec, in_vain->event + 1), trace, pins_shown);
}

/// Tries placements of a trace under one set of conditions.
class Trial {
 public:
  Trial(const PreparedRun& base, const CompareOptions& options, KeepSeries keep, Pricing pricing)
      : base_{base}, options_{options}, keep_{keep}, pricing_{std::move(pricing)} {}

  [[nodiscard]] TriedPlacement of(const CallPlacement& placement) const {
    TriedPlacement tried{.placement = placement,
                         .also = {},
                         .changed = change_of(placement),
                         .run = {},
                         .calls = {},
                         .mean_reserved = {},
                         .cost = {},
                         .pins = {},
                         .reserved = {}};
    const Trace& trace = tried.changed.trace ? *tried.changed.trace : base_.trace();
    tried.run = replay(trace, base_.spec(), KeepSeries::yes);
    tried.run.name = placement.name;
    tried.run.at_peak_reserved.heap = {};
    tried.cost = estimate(tried.run.counts, pricing_.prices);
    look_at_calls(trace, tried);
    look_at_pins(trace, base_.spec(), tried);
    return tried;
  }

  /// All at once; keeps no more series than there are threads.
  [[nodiscard]] std::vector<TriedPlacement> of_all(
      std::span<const CallPlacement> placements) const {
    return parallel_map(placements.size(), options_.threads, [&](std::size_t i) {
      TriedPlacement tried = of(placements[i]);
      finish(tried);
      return tried;
    });
  }

  /// Drops the series, but for what is wanted of it.
  void finish(TriedPlacement& tried) const {
    if (keep_ == KeepSeries::yes) {
      tried.reserved.reserve(tried.run.series.size());
      for (const Usage& usage : tried.run.series) tried.reserved.push_back(usage.reserved);
    }
    tried.run.series = {};
  }

 private:
  [[nodiscard]] ChangedTrace change_of(const CallPlacement& placement) const {
    TraceChanges changes;
    changes.empty_cache = placement.plan;
    ChangedTrace changed = change(base_.trace(), changes, base_.spec());
    // What the other options changed stays changed where the calls are kept.
    if (!changed.trace) changed.trace = base_.changed().trace;
    return changed;
  }

  const PreparedRun& base_;
  const CompareOptions& options_;
  KeepSeries keep_;
  Pricing pricing_;
};

bool make_the_same_calls(const TriedPlacement& a, const TriedPlacement& b) {
  return std::equal(a.calls.begin(),
                    a.calls.end(),
                    b.calls.begin(),
                    b.calls.end(),
                    [](const EmptyingCall& x, const EmptyingCall& y) {
                      return x.event == y.event && x.given_back == y.given_back;
                    });
}

/// Puts a placement behind the others, or its name beside the one that makes the same calls.
void add(TriedPlacement tried, std::vector<TriedPlacement>& all) {
  const auto same = std::find_if(all.begin(), all.end(), [&](const TriedPlacement& other) {
    return make_the_same_calls(other, tried);
  });
  if (same == all.end()) {
    all.push_back(std::move(tried));
  } else if (same->placement.name != tried.placement.name) {
    same->also.push_back(tried.placement.name);
  }
}

/// What the user asks for, last of all.
void add_asked(const TraceChanges& changes, std::vector<CallPlacement>& placements) {
  const auto* at = std::get_if<EmptyCacheAt>(&changes.empty_cache);
  if (at == nullptr) return;
  placements.push_back({.name = to_text(at->emptyings), .plan = *at});
}

}  // namespace

Bytes TriedPlacement::given_back() const {
  Bytes sum;
  for (const EmptyingCall& call : calls) sum += call.given_back;
  return sum;
}

std::size_t TriedPlacement::calls_in_vain() const {
  return static_cast<std::size_t>(std::count_if(
      calls.begin(), calls.end(), [](const auto& call) { return call.given_back == Bytes{0}; }));
}

PlacementStudy study_placements(const Subject& subject,
                                const std::optional<NamedSettings>& settings,
                                const CompareOptions& options,
                                KeepSeries keep) {
  CompareOptions without_calls = options;
  without_calls.changes.empty_cache = KeepEmptyCache{};
  const PreparedRun base{subject, settings, without_calls};
  PlacementStudy study;
  study.subject = &subject;
  const RunConditions conditions = resolve_conditions(base.trace(), base.spec());
  study.pricing =
      choose_prices(*conditions.model, conditions.soc, options.profile, options.price_overrides);

  const Trial trial{base, options, keep, study.pricing};
  TriedPlacement none = trial.of(no_calls());
  if (none.run.outcome == RunOutcome::refused) {
    throw InputError{{.file = none.run.conditions.settings, .line = {}, .byte = {}},
                     none.run.reason};
  }
  std::vector<CallPlacement> placements =
      sensible_placements(base.trace(), *none.changed.trace, none.run);
  study.best_place = find_best_place(*none.changed.trace, base.spec(), none.run, options.threads);
  if (study.best_place.request) {
    const place::AtRequest at{*study.best_place.request};
    placements.push_back({.name = "best single place: " + to_text(Place{at}),
                          .plan = EmptyCacheAt{{emptying::At{at}}}});
  }
  add_asked(options.changes, placements);
  trial.finish(none);
  study.tried.push_back(std::move(none));
  for (TriedPlacement& tried : trial.of_all(placements)) add(std::move(tried), study.tried);
  advise(study);
  return study;
}

}  // namespace fragcast
