#include "replay/compare/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "replay/trace/quantity.hpp"

namespace fragcast {
namespace {

using Sentences = std::vector<std::string>;

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

/// Rows by name for which `holds`.
template <class Predicate>
std::vector<std::string> names_where(const Comparison& comparison, Predicate holds) {
  std::vector<std::string> names;
  for (const ComparedRun& row : comparison.runs) {
    if (!row.refused() && holds(row)) names.push_back(row.run.name);
  }
  return names;
}

void say_whether_it_fits(const Comparison& comparison, Sentences& verdict) {
  const auto failing = names_where(comparison, [](const auto& row) { return fails_anew(row.run); });
  const std::uint64_t recorded_failures = comparison.subject->history.recorded.failures;
  if (recorded_failures > 0) {
    const auto serving =
        names_where(comparison, [&](const ComparedRun& row) { return row.run.failures.empty(); });
    verdict.push_back(fmt::format(
        "The recording ran out of memory {} time{}; {}.",
        recorded_failures,
        recorded_failures == 1 ? "" : "s",
        serving.empty() ? "so does every row"
                        : fmt::format("under {} everything would have fitted", join(serving))));
  }
  if (!failing.empty()) {
    const auto& first = *std::find_if(comparison.runs.begin(),
                                      comparison.runs.end(),
                                      [](const auto& row) { return fails_anew(row.run); });
    verdict.push_back(fmt::format("Under {} the run would {}have run out of memory. First: {}",
                                  join(failing),
                                  recorded_failures > 0 ? "besides " : "",
                                  first.run.reason));
  } else if (recorded_failures == 0) {
    const bool limited =
        std::any_of(comparison.runs.begin(), comparison.runs.end(), [](const ComparedRun& row) {
          return row.run.conditions.device_memory.has_value();
        });
    const bool alone = comparison.runs.size() == 1;
    verdict.emplace_back(limited ? (alone ? "Everything would have fitted."
                                          : "Everything would have fitted in every row.")
                                 : "Nothing can run out of memory here: no capacity is known, so "
                                   "the device is taken to be large enough (--device-memory).");
  }
}

std::string change(const Comparison& comparison, const ComparedRun& row) {
  const Run& reference = comparison.runs[row.difference->reference].run;
  const Bytes bytes = row.difference->peak_reserved;
  const double percent =
      100.0 * static_cast<double>(bytes.count()) /
      static_cast<double>(std::max<std::int64_t>(1, reference.peak.reserved.count()));
  return fmt::format("{} ({:+.1f} %), {} against {}",
                     human_size(bytes < Bytes{0} ? -bytes : bytes),
                     percent,
                     human_size(row.run.peak.reserved),
                     human_size(reference.peak.reserved));
}

void say_what_is_refused(const Comparison& comparison, Sentences& verdict) {
  for (const ComparedRun& row : comparison.runs) {
    if (!row.refused()) continue;
    verdict.push_back(fmt::format("{} is refused: {}", row.run.name, describe_refusal(row)));
  }
}

void say_what_changes(const Comparison& comparison, Sentences& verdict) {
  const ComparedRun* best = nullptr;
  const ComparedRun* worst = nullptr;
  for (const ComparedRun& row : comparison.runs) {
    if (!row.difference || fails_anew(row.run)) continue;
    if (row.run.conditions.settings == comparison.runs.front().run.conditions.settings) continue;
    const auto less = [](const ComparedRun& a, const ComparedRun& b) {
      return a.difference->peak_reserved < b.difference->peak_reserved;
    };
    if (best == nullptr || less(row, *best)) best = &row;
    if (worst == nullptr || less(*worst, row)) worst = &row;
  }
  if (best == nullptr) return;
  if (best->difference->peak_reserved < Bytes{0}) {
    verdict.push_back(fmt::format(
        "{} lowers peak reserved memory by {}.", best->run.name, change(comparison, *best)));
  } else {
    verdict.emplace_back("No setting tried lowers peak reserved memory.");
  }
  if (worst->difference->peak_reserved > Bytes{0}) {
    verdict.push_back(
        fmt::format("{} raises it by {}.", worst->run.name, change(comparison, *worst)));
  }
}

/// Whether the device calls of two rows can be held against each other: they served the same
/// requests under different settings, from starts that know the same.
bool are_rivals(const Comparison& comparison, const ComparedRun& a, const ComparedRun& b) {
  if (!a.cost || !b.cost || fails_anew(a.run) || fails_anew(b.run)) return false;
  if (a.run.conditions.settings == b.run.conditions.settings) return false;
  return a.run.conditions.start == b.run.conditions.start ||
         comparison.initially_cached == Bytes{0};
}

/// A winner is named only if it wins whatever the prices are.
void say_what_costs_least(const Comparison& comparison, Sentences& verdict) {
  for (const ComparedRun& row : comparison.runs) {
    const ComparedRun* closest = nullptr;
    bool wins = true;
    for (const ComparedRun& other : comparison.runs) {
      if (!are_rivals(comparison, row, other)) continue;
      wins = wins && is_cheaper(*row.cost, *other.cost) == Cheaper::yes;
      if (closest == nullptr || other.cost->mid < closest->cost->mid) closest = &other;
    }
    if (closest == nullptr || !wins) continue;
    verdict.push_back(
        fmt::format("{} costs least in device calls at low, mid and high prices of {}: {} against "
                    "{} of {}, waiting left out.",
                    row.run.name,
                    describe(comparison.pricing),
                    human_cost(*row.cost),
                    human_cost(*closest->cost),
                    closest->run.name));
    return;
  }
}

void say_what_it_rests_on(const Comparison& comparison, Sentences& verdict) {
  if (comparison.fidelity && !comparison.fidelity->perfect()) {
    const auto& first = comparison.fidelity->first;
    verdict.push_back(
        fmt::format("Take the figures with care: the recorded settings do not reproduce the "
                    "recording. {}",
                    first ? first->what + " " + first->why : comparison.fidelity->refusal));
  }
  const bool any_cold = std::any_of(comparison.runs.begin(), comparison.runs.end(), [](auto& row) {
    return !row.refused() && row.run.conditions.start == Start::cold;
  });
  if (any_cold && comparison.runs.size() == 1 && comparison.initially_cached > Bytes{0}) {
    verdict.push_back(fmt::format(
        "{} were free in reserved memory when the trace began; a cold start leaves them out.",
        human_size(comparison.initially_cached)));
  } else if (any_cold && comparison.initially_cached > Bytes{0}) {
    verdict.push_back(fmt::format(
        "{} were free in reserved memory when the trace began; rows that start cold are held "
        "against the recorded settings started cold, as none of them can know those bytes.",
        human_size(comparison.initially_cached)));
  }
}

}  // namespace

std::string describe_refusal(const ComparedRun& row) {
  std::string text = row.run.reason;
  if (row.diagnostics.empty()) return text;
  // Some of torch's sentences end in the middle.
  text.erase(text.find_last_not_of(" ,") + 1);
  for (const Note& note : row.diagnostics) text += fmt::format(" ({})", note.text);
  return text;
}

std::vector<std::string> pass_verdict(const Comparison& comparison) {
  Sentences verdict;
  say_whether_it_fits(comparison, verdict);
  say_what_changes(comparison, verdict);
  say_what_costs_least(comparison, verdict);
  say_what_is_refused(comparison, verdict);
  say_what_it_rests_on(comparison, verdict);
  return verdict;
}

}  // namespace fragcast
