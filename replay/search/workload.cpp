#include "replay/search/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "replay/engine/session.hpp"
#include "replay/search/emptying_choices.hpp"
#include "replay/transforms/scale_sizes.hpp"

namespace fragcast {
namespace {

/// As many failures as no run has: what cannot even start.
constexpr std::int64_t refused_start = std::int64_t{1} << 40;

TunedRun summary(const RunCounts& counts, const Usage& peak, const PriceList& prices) {
  return {.failures = counts.ooms + counts.oom_rejections,
          .peak_reserved = peak.reserved,
          .peak_allocated = peak.allocated,
          .cost = estimate(counts, prices),
          .device_allocs = counts.device_allocs,
          .device_frees = counts.device_frees,
          .syncs = counts.syncs,
          .retries = counts.alloc_retries};
}

TunedRun so_far(const Session& session, const PriceList& prices) {
  TunedRun run = summary(counts_of(session), session.totals().peak, prices);
  run.failures += static_cast<std::int64_t>(session.start_ooms().size());
  return run;
}

TunedRun summary(const Run& run, const PriceList& prices) {
  TunedRun tuned = summary(run.counts, run.peak, prices);
  tuned.failures += std::count_if(
      run.failures.begin(), run.failures.end(), [](const auto& f) { return !f.event; });
  if (run.outcome == RunOutcome::refused) tuned.failures = refused_start;
  return tuned;
}

}  // namespace

Workload::Workload(std::span<const Subject> subjects,
                   const CompareOptions& options,
                   EmptyCacheSearch where)
    : subjects_{subjects} {
  std::vector<const Trace*> traces;
  prepared_.reserve(subjects.size());
  for (const Subject& subject : subjects) {
    prepared_.emplace_back(subject, std::nullopt, options);
    traces.push_back(&subject.trace());
    require_start(prepared_.size() - 1);
    const RunConditions first = conditions(0);
    const RunConditions last = conditions(prepared_.size() - 1);
    if (first.model == last.model && &first.release() == &last.release()) continue;
    throw InputError{
        {.file = subject.source.file, .line = {}, .byte = {}},
        fmt::format("is of {} {}, but {} is of {} {}: one setting for both means little; "
                    "choose one with --model and --release",
                    last.model->name,
                    last.release().name,
                    subjects.front().source.file,
                    first.model->name,
                    first.release().name)};
  }
  const RunConditions first = conditions(0);
  pricing_ = choose_prices(*first.model, first.soc, options.profile, options.price_overrides);
  add_placement(options.changes);
  if (where == EmptyCacheSearch::as_given) return;
  for (EmptyCachePlan& plan : emptying_choices(traces)) {
    TraceChanges changes = options.changes;
    changes.empty_cache = std::move(plan);
    add_placement(changes);
  }
}

void Workload::require_start(std::size_t i) const {
  const Session session{trace(i), conditions(i)};
  if (session.refusal().empty()) return;
  throw InputError{{.file = subjects_[i].source.file, .line = {}, .byte = {}},
                   fmt::format("cannot be replayed by {} as it was recorded: {} "
                               "(--recorded-setting puts other settings in their place)",
                               conditions(i).model->name,
                               session.refusal())};
}

void Workload::add_placement(const TraceChanges& changes) {
  std::vector<ChangedTrace> changed;
  std::string name;
  for (std::size_t i = 0; i < size(); ++i) {
    const bool as_prepared = changes_.empty();
    ChangedTrace trace = as_prepared ? prepared_[i].changed()
                                     : change(subjects_[i].trace(), changes, prepared_[i].spec());
    name = trace.empty_cache;
    if (!changes.depend_on_run()) changed.push_back(std::move(trace));
  }
  const auto& names = placement_names_;
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  changes_.push_back(changes);
  placement_names_.push_back(std::move(name));
  changed_.push_back(std::move(changed));
}

RunConditions Workload::conditions(std::size_t i) const {
  RunSpec spec = prepared_[i].spec();
  spec.start = Start::cold;
  return resolve_conditions(trace(i), spec);
}

std::optional<Bytes> Workload::shared_memory() const {
  const std::optional<Bytes> memory = conditions(0).device_memory;
  for (std::size_t i = 1; i < size(); ++i) {
    if (conditions(i).device_memory != memory) return std::nullopt;
  }
  return memory;
}

bool Workload::any_warm() const {
  return std::any_of(prepared_.begin(), prepared_.end(), [](const PreparedRun& prepared) {
    return prepared.spec().start == Start::warm && !prepared.trace().initial.empty();
  });
}

Standing Workload::standing_of(const TunedPoint& point) const {
  Standing standing;
  for (std::size_t i = 0; i < point.runs.size(); ++i) standing.add(point.runs[i], unit_of(i));
  return standing;
}

RunSpec Workload::spec_of(std::size_t i, const Choice& choice, const Variation& variation) const {
  RunSpec spec = prepared_[i].spec();
  // Only the recorded settings can start warm, and only if the recording is the model's.
  const bool warm = variation.start == Start::warm && spec.start == Start::warm;
  spec.start = variation.start == Start::warm && !warm ? Start::cold : variation.start;
  if (choice.settings) spec.settings = choice.settings;
  if (const std::optional<Bytes> memory = conditions(i).device_memory) {
    const double share = variation.memory_share * static_cast<double>(memory->count());
    spec.device_memory = Bytes{static_cast<std::int64_t>(share)};
  }
  return spec;
}

std::shared_ptr<const Trace> Workload::trace_of(std::size_t i,
                                                const Choice& choice,
                                                const Variation& variation,
                                                const RunSpec& spec) const {
  const TraceChanges& changes = changes_[choice.placement];
  if (variation.size_factor != 1) {
    auto scaled =
        std::make_shared<const Trace>(scale_sizes(subjects_[i].trace(), variation.size_factor));
    ChangedTrace changed = change(*scaled, changes, spec);
    return changed.trace ? std::move(changed.trace) : scaled;
  }
  if (changes.depend_on_run()) return change(subjects_[i].trace(), changes, spec).trace;
  return changed_[choice.placement][i].trace;
}

std::optional<TunedPoint> Workload::evaluate(const Choice& choice,
                                             const Variation& variation,
                                             std::span<const TunedPoint> rivals) const {
  TunedPoint point{.settings = choice.settings.value_or(conditions(0).settings),
                   .empty_cache = placement_names_[choice.placement],
                   .runs = {},
                   .standing = {},
                   .equals = 0};
  const PriceList& prices = pricing_.prices;
  for (std::size_t i = 0; i < size(); ++i) {
    const RunSpec spec = spec_of(i, choice, variation);
    const std::shared_ptr<const Trace> changed = trace_of(i, choice, variation, spec);
    const Bytes unit = unit_of(i);
    const Enough beaten = [&](const Session& session) {
      Standing standing = point.standing;
      standing.add(so_far(session, prices), unit);
      return std::any_of(rivals.begin(), rivals.end(), [&](const TunedPoint& rival) {
        return beats(rival.standing, standing);
      });
    };
    const std::optional<Run> run = replay_unless(
        changed ? *changed : subjects_[i].trace(), spec, rivals.empty() ? Enough{} : beaten);
    if (!run) return std::nullopt;
    point.runs.push_back(summary(*run, prices));
    point.standing.add(point.runs.back(), unit);
  }
  return point;
}

}  // namespace fragcast
