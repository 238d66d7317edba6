#include "replay/search/placement_advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "replay/trace/quantity.hpp"

namespace fragcast {
namespace {

/// A lower peak than without any call counts from this share on.
constexpr double worth_a_call = 0.02;
/// Peaks that differ by less are as good as each other.
constexpr double as_good = 0.01;
/// So many times the device allocations are worth a warning.
constexpr std::int64_t many_times = 10;

double share(Bytes part, Bytes whole) {
  if (whole == Bytes{0}) return 0.0;
  return static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

std::string times(std::int64_t count, const char* what) {
  return fmt::format("{} {}{}", grouped(count), what, count == 1 ? "" : "s");
}

std::string against(Bytes ours, Bytes theirs) {
  return fmt::format("{} instead of {} ({:+.1f} %)",
                     human_size(ours),
                     human_size(theirs),
                     100.0 * share(ours - theirs, theirs));
}

/// Whose peak is lowest among those that complete, if any does; of those as good, the cheapest.
std::size_t best_of(const std::vector<TriedPlacement>& tried) {
  const bool any_completes =
      std::any_of(tried.begin(), tried.end(), [](const auto& one) { return !fails_anew(one.run); });
  const auto counts = [&](const TriedPlacement& one) {
    return !any_completes || !fails_anew(one.run);
  };
  Bytes lowest = Bytes::unlimited();
  for (const TriedPlacement& one : tried) {
    if (counts(one)) lowest = std::min(lowest, one.run.peak.reserved);
  }
  const auto rank = [](const TriedPlacement& one) {
    return std::tuple{one.cost.mid, one.calls.size(), one.run.peak.reserved};
  };
  std::size_t best = tried.size();
  for (std::size_t i = 0; i < tried.size(); ++i) {
    if (!counts(tried[i])) continue;
    if (share(tried[i].run.peak.reserved - lowest, lowest) > as_good) continue;
    if (best == tried.size() || rank(tried[i]) < rank(tried[best])) best = i;
  }
  return best;
}

std::string cost_of(const TriedPlacement& one, const TriedPlacement& none) {
  return fmt::format("{}, {} and {} of device calls against {} and {}",
                     times(static_cast<std::int64_t>(one.calls.size()), "call"),
                     times(one.run.counts.device_allocs, "device allocation"),
                     human_cost(one.cost),
                     grouped(none.run.counts.device_allocs),
                     human_cost(none.cost));
}

/// What to do, as a sentence begins.
std::string advice(const TriedPlacement& tried) {
  return std::holds_alternative<KeepEmptyCache>(tried.placement.plan)
             ? std::string{"Keep the recorded calls of empty_cache"}
             : fmt::format("Call empty_cache as --empty-cache-at {} does",
                           tried.changed.empty_cache);
}

void recommend(PlacementStudy& study) {
  const TriedPlacement& none = study.tried.front();
  const TriedPlacement& best = study.tried[study.recommended];
  const Bytes saved = none.run.peak.reserved - best.run.peak.reserved;
  if (fails_anew(none.run) && fails_anew(best.run)) {
    study.recommended = 0;
    study.verdict.push_back(fmt::format(
        "No placement of empty_cache lets the run complete. Without a call: {}", none.run.reason));
    return;
  }
  if (fails_anew(none.run)) {
    study.verdict.push_back(fmt::format(
        "{}: without a call the run would have run out of memory, with it it completes ({}).",
        advice(best),
        cost_of(best, none)));
    return;
  }
  if (study.recommended != 0 && share(saved, none.run.peak.reserved) >= worth_a_call) {
    study.verdict.push_back(fmt::format("{}: peak reserved {}; {}.",
                                        advice(best),
                                        against(best.run.peak.reserved, none.run.peak.reserved),
                                        cost_of(best, none)));
    return;
  }
  study.recommended = 0;
  const auto lowest =
      std::min_element(study.tried.begin(), study.tried.end(), [](const auto& a, const auto& b) {
        return a.run.peak.reserved < b.run.peak.reserved;
      });
  const Bytes most = none.run.peak.reserved - lowest->run.peak.reserved;
  study.verdict.push_back(
      most == Bytes{0}
          ? std::string{"Make no call of empty_cache: none of the placements lowers the peak of "
                        "reserved memory."}
          : fmt::format("Make no call of empty_cache: none of the placements lowers the peak of "
                        "reserved memory by more than {} ({:.1f} %).",
                        human_size(most),
                        100.0 * share(most, none.run.peak.reserved)));
}

/// What the allocator does by itself when the device is full.
void say_what_a_flush_does(PlacementStudy& study) {
  const Run& none = study.tried.front().run;
  if (!none.failures.empty()) return;
  if (none.counts.alloc_retries > 0) {
    study.verdict.push_back(fmt::format(
        "Without a call the allocator's own flush handles the full device: {}, and nothing fails. "
        "A call in time only spares the retries.",
        times(none.counts.alloc_retries, "retried request")));
  } else if (study.recommended != 0) {
    study.verdict.emplace_back(
        "Nothing runs out of memory without it, and a full device makes the allocator flush its "
        "cache by itself: the call is for others who want the memory.");
  }
}

void say_what_is_left_to_others(PlacementStudy& study) {
  const TriedPlacement& chosen = study.tried[study.recommended];
  const auto lowest =
      std::min_element(study.tried.begin(), study.tried.end(), [](const auto& a, const auto& b) {
        return std::tuple{fails_anew(a.run), a.mean_reserved, a.cost.mid} <
               std::tuple{fails_anew(b.run), b.mean_reserved, b.cost.mid};
      });
  const Bytes more = chosen.mean_reserved - lowest->mean_reserved;
  if (share(more, chosen.mean_reserved) < worth_a_call) return;
  study.verdict.push_back(fmt::format(
      "A neighbour on the device has most with {}: {} more on average, for {} instead of {}.",
      lowest->placement.name,
      human_size(more),
      times(lowest->run.counts.device_allocs, "device allocation"),
      grouped(chosen.run.counts.device_allocs)));
}

void say_what_every_step_costs(PlacementStudy& study) {
  const Run& none = study.tried.front().run;
  for (const TriedPlacement& one : study.tried) {
    if (one.placement.name != "step-end") continue;
    const std::int64_t ours = one.run.counts.device_allocs;
    if (ours < many_times * std::max<std::int64_t>(none.counts.device_allocs, 1)) return;
    study.verdict.push_back(fmt::format("A call after every step costs {} where no call costs {}.",
                                        times(ours, "device allocation"),
                                        grouped(none.counts.device_allocs)));
  }
}

}  // namespace

void advise(PlacementStudy& study) {
  study.recommended = best_of(study.tried);
  recommend(study);
  say_what_a_flush_does(study);
  say_what_every_step_costs(study);
  say_what_is_left_to_others(study);
  if (!study.best_place.request) {
    study.verdict.push_back(
        study.best_place.tried == 0
            ? std::string{"There is no place for a single call: nothing is unused when reserved "
                          "memory grows."}
            : fmt::format("No single call lowers the peak: {} tried.",
                          times(static_cast<std::int64_t>(study.best_place.tried), "place")));
  }
}

}  // namespace fragcast
