#include "replay/search/tune_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "replay/trace/quantity.hpp"

namespace fragcast {
namespace {

using Sentences = std::vector<std::string>;

Bytes largest_peak(const TunedPoint& point) {
  Bytes largest;
  for (const TunedRun& run : point.runs) largest = std::max(largest, run.peak_reserved);
  return largest;
}

double share(Bytes part, Bytes whole) {
  return static_cast<double>(part.count()) / static_cast<double>(std::max(Bytes{1}, whole).count());
}

std::string failing(std::int64_t failures) {
  return fmt::format("{} request{} find{} no memory",
                     grouped(failures),
                     failures == 1 ? "" : "s",
                     failures == 1 ? "s" : "");
}

/// How the device calls of a point compare with now's.
std::string describe_cost(const Tuning& tuning, const TunedPoint& point) {
  const CostEstimate& cost = point.standing.cost;
  const CostEstimate& now = tuning.now.standing.cost;
  const std::string prices = describe(tuning.pricing);
  const std::string figures =
      fmt::format("{} against {}, waiting left out", human_cost(cost), human_cost(now));
  if (is_cheaper(cost, now) == Cheaper::yes) {
    return fmt::format(
        "Its device calls take less time at low, mid and high prices of {}: {}.", prices, figures);
  }
  if (is_cheaper(now, cost) == Cheaper::yes) {
    return fmt::format(
        "Its device calls take more time at low, mid and high prices of {}: {}.", prices, figures);
  }
  const bool equal = cost.low == now.low && cost.mid == now.mid && cost.high == now.high;
  if (equal && cost.waits == now.waits) return "Its device calls take as much time as now's.";
  return fmt::format(
      "Whether its device calls take less time than now's depends on prices and on how long a wait "
      "is: {} at prices of {}, with {} wait{} against {}.",
      figures,
      prices,
      grouped(cost.waits),
      cost.waits == 1 ? "" : "s",
      grouped(now.waits));
}

/// Whether no other point of the front is as cheap, whatever the prices are.
bool is_cheapest(const Tuning& tuning, const TunedPoint& point) {
  return std::all_of(tuning.front.begin(), tuning.front.end(), [&](const TunedPoint& other) {
    const bool itself = other.settings == point.settings && other.empty_cache == point.empty_cache;
    return itself || is_cheaper(point.standing.cost, other.standing.cost) == Cheaper::yes;
  });
}

void say_what_helps(const Tuning& tuning, Sentences& verdict) {
  const TunedPoint& best = *tuning.recommended;
  const std::string name = describe_choice(tuning, best);
  const std::int64_t before = tuning.now.standing.failures;
  const std::int64_t after = best.standing.failures;
  if (before != after) {
    verdict.push_back(fmt::format("Now {}; with {} {}.",
                                  failing(before),
                                  name,
                                  after == 0 ? "everything fits" : failing(after)));
  }
  const bool less = best.standing.worst < tuning.now.standing.worst;
  verdict.push_back(fmt::format("{} {} peak reserved memory{}: {}, {}.",
                                name,
                                less                                               ? "lowers"
                                : best.standing.worst == tuning.now.standing.worst ? "keeps"
                                                                                   : "raises",
                                tuning.subjects.size() > 1 ? " of the worst trace" : "",
                                describe_peak(tuning, best),
                                describe_change(tuning, best)));
  verdict.push_back(describe_cost(tuning, best));
  if (tuning.objective == Objective::time && !is_cheapest(tuning, best)) {
    verdict.emplace_back(
        "Which of the front costs least depends on prices and waits; this one does at mid prices.");
  }
  constexpr double little = 0.99;
  const double ratio = best.standing.worst / tuning.now.standing.worst;
  if (before == after && tuning.objective == Objective::memory && ratio > little) {
    verdict.emplace_back("That is less than 1 % of peak reserved: hardly worth a change.");
  }
}

void say_how_robust(const Tuning& tuning, Sentences& verdict) {
  std::vector<std::string> lost;
  for (const Robustness& one : tuning.robustness) {
    const Standing& now = one.now.standing;
    const Standing& then = one.recommended.standing;
    const bool fails = then.failures > now.failures;
    const bool more = then.failures == now.failures && then.worst > now.worst;
    if (fails || more) {
      lost.push_back(fmt::format("{} ({})", one.name, fails ? "requests fail" : "more reserved"));
    }
  }
  if (tuning.robustness.empty()) return;
  if (lost.empty()) {
    verdict.push_back(fmt::format("It is no worse than now in {} other circumstance{} tried.",
                                  tuning.robustness.size(),
                                  tuning.robustness.size() == 1 ? "" : "s"));
    return;
  }
  std::string list;
  for (const std::string& one : lost) list += (list.empty() ? "" : "; ") + one;
  verdict.push_back(fmt::format("It is worse than now with: {}.", list));
}

/// The trace that has least to gain is of no interest; the one with most bounds what can be saved.
void say_why_nothing_helps(const Tuning& tuning, Sentences& verdict) {
  verdict.push_back(fmt::format("No setting tried is better than now: keep {}.",
                                describe_choice(tuning, tuning.now)));
  for (std::size_t i = 0; i < tuning.subjects.size(); ++i) {
    const Bytes reserved = tuning.now.runs[i].peak_reserved;
    const Bytes live = tuning.live_peak[i];
    const std::string whose =
        tuning.subjects.size() > 1 ? tuning.subjects[i]->source.file + ": " : std::string{};
    const std::optional<Bytes>& memory = tuning.memory[i];
    if (tuning.now.standing.failures > 0 && memory && live > *memory) {
      verdict.push_back(
          fmt::format("{}{} are live at once and the device has {}: no allocator setting can help, "
                      "only a smaller workload.",
                      whose,
                      human_size(live),
                      human_size(*memory)));
    } else {
      verdict.push_back(fmt::format(
          "{}{} are live at once where {} are reserved at the peak: {:.1f} % efficiency, so no "
          "setting could save more than {}.",
          whose,
          human_size(live),
          human_size(reserved),
          100 * share(live, reserved),
          human_size(std::max(Bytes{0}, reserved - live))));
    }
  }
}

void say_what_harms(const Tuning& tuning, Sentences& verdict) {
  std::string list;
  for (const AdvisedSetting& advised : tuning.advised) {
    if (!advised.point || against_now(tuning, *advised.point) != AgainstNow::worse) continue;
    const TunedPoint& point = *advised.point;
    std::string how = "same peak, more device time";
    if (point.standing.failures > tuning.now.standing.failures) {
      how = failing(point.standing.failures);
    } else if (point.standing.worst > tuning.now.standing.worst) {
      how = describe_change(tuning, point);
    }
    list += fmt::format("{}{} ({})", list.empty() ? "" : "; ", advised.name, how);
  }
  if (!list.empty()) verdict.push_back(fmt::format("Worse than now: {}.", list));
  for (const AdvisedSetting& advised : tuning.advised) {
    if (advised.refusal.empty()) continue;
    verdict.push_back(fmt::format("{} is refused: {}", advised.name, advised.refusal));
  }
}

void say_what_it_rests_on(const Tuning& tuning, Sentences& verdict) {
  const bool unlimited = std::none_of(
      tuning.memory.begin(), tuning.memory.end(), [](auto& m) { return m.has_value(); });
  if (unlimited) {
    verdict.emplace_back(
        "No capacity is known, so nothing can run out of memory here (--device-memory).");
  }
  if (tuning.cut_short) {
    verdict.push_back(fmt::format("The search ended after {} points; --points allows more.",
                                  grouped(tuning.tried)));
  }
}

bool is_plain(char c) {
  constexpr std::string_view others = "_:,.-";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         others.find(c) != std::string_view::npos;
}

/// A word that a shell takes as it is. Settings may come from a file that nobody vouches for.
std::string shell_word(const std::string& text) {
  if (std::all_of(text.begin(), text.end(), is_plain)) return text;
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

}  // namespace

AgainstNow against_now(const Tuning& tuning, const TunedPoint& point) {
  const Standing& a = point.standing;
  const Standing& b = tuning.now.standing;
  if (a.failures != b.failures) {
    return a.failures < b.failures ? AgainstNow::better : AgainstNow::worse;
  }
  const auto peaks_a = std::tie(a.worst, a.total);
  const auto peaks_b = std::tie(b.worst, b.total);
  if (peaks_a != peaks_b) return peaks_a < peaks_b ? AgainstNow::better : AgainstNow::worse;
  if (is_cheaper(a.cost, b.cost) == Cheaper::yes) return AgainstNow::better;
  return is_cheaper(b.cost, a.cost) == Cheaper::yes ? AgainstNow::worse : AgainstNow::no_worse;
}

std::string describe_peak(const Tuning& tuning, const TunedPoint& point) {
  if (tuning.peaks == PeakUnit::bytes) return human_size(largest_peak(point));
  return fmt::format("{:.1f} % of now", 100 * point.standing.worst);
}

std::string describe_change(const Tuning& tuning, const TunedPoint& point) {
  if (point.standing.worst == tuning.now.standing.worst) return "same";
  const double percent = 100 * (point.standing.worst / tuning.now.standing.worst - 1);
  if (tuning.peaks == PeakUnit::share_of_now) return fmt::format("{:+.1f} %", percent);
  const Bytes change = largest_peak(point) - largest_peak(tuning.now);
  return fmt::format("{}{} ({:+.1f} %)",
                     change < Bytes{0} ? '-' : '+',
                     human_size(change < Bytes{0} ? -change : change),
                     percent);
}

std::string describe_choice(const Tuning& tuning, const TunedPoint& point) {
  std::string text = point.settings.empty() ? "no settings" : point.settings;
  if (point.empty_cache == tuning.now.empty_cache) return text;
  return text + (point.empty_cache == "drop" || point.empty_cache == "none"
                     ? " without empty_cache"
                     : " and empty_cache at " + point.empty_cache);
}

std::string paste_line(const Tuning& tuning) {
  if (!tuning.recommended) return {};
  const std::string& settings = tuning.recommended->settings;
  if (settings.empty()) return fmt::format("unset {}", tuning.model->variable);
  return fmt::format("export {}={}", tuning.model->variable, shell_word(settings));
}

std::vector<std::string> pass_verdict(const Tuning& tuning) {
  Sentences verdict;
  if (tuning.recommended) {
    say_what_helps(tuning, verdict);
    say_how_robust(tuning, verdict);
  } else {
    say_why_nothing_helps(tuning, verdict);
  }
  say_what_harms(tuning, verdict);
  say_what_it_rests_on(tuning, verdict);
  return verdict;
}

}  // namespace fragcast
