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

std::string without_sign(const std::string& change) {
  return change.starts_with('-') || change.starts_with('+') ? change.substr(1) : change;
}

std::string failing(std::int64_t failures) {
  return fmt::format("{} request{} find{} no memory",
                     grouped(failures),
                     failures == 1 ? "" : "s",
                     failures == 1 ? "s" : "");
}

std::string waits(std::int64_t count) {
  return fmt::format("{} time{}", grouped(count), count == 1 ? "" : "s");
}

/// How the device calls of a point compare with now's.
std::string describe_cost(const Tuning& tuning, const TunedPoint& point) {
  const CostEstimate& cost = point.standing.cost;
  const CostEstimate& now = tuning.now.standing.cost;
  const bool less = cost.low < now.low && cost.mid < now.mid && cost.high < now.high;
  const bool more = cost.low > now.low && cost.mid > now.mid && cost.high > now.high;
  const bool equal = cost.low == now.low && cost.mid == now.mid && cost.high == now.high;
  const std::string prices = describe(tuning.pricing);
  std::string text = "Its device calls take as much time";
  if (less || more) {
    text = fmt::format("Its device calls take {} time at low, mid and high prices of {}",
                       less ? "less" : "more",
                       prices);
  } else if (!equal) {
    text =
        fmt::format("Whether its device calls take less time depends on the prices of {}", prices);
  }
  if (!equal) text += fmt::format(": {} against {}", human_cost(cost), human_cost(now));
  if (cost.waits == now.waits) return text + ", waiting left out.";
  return text + fmt::format("; it waits for the device {} against {}, which is not in that.",
                            waits(cost.waits),
                            grouped(now.waits));
}

/// Whether no other point of the front is as cheap, whatever the prices are.
bool is_cheapest(const Tuning& tuning, const TunedPoint& point) {
  return std::all_of(tuning.front.begin(), tuning.front.end(), [&](const TunedPoint& other) {
    const bool itself = other.settings == point.settings && other.empty_cache == point.empty_cache;
    return itself || is_cheaper(point.standing.cost, other.standing.cost) == Cheaper::yes;
  });
}

/// What is live at once, against what is reserved and what may be.
void say_what_bounds(const Tuning& tuning, Sentences& verdict) {
  const bool fails = tuning.now.standing.failures > 0;
  for (std::size_t i = 0; i < tuning.subjects.size(); ++i) {
    const Bytes reserved = tuning.now.runs[i].peak_reserved;
    const Bytes live = tuning.live_peak[i];
    const std::optional<Bytes>& capacity = tuning.capacity[i];
    std::string text =
        tuning.subjects.size() > 1 ? tuning.subjects[i]->source.file + ": " : std::string{};
    if (live == Bytes{0}) {
      text += "Nothing is asked for.";
    } else if (capacity && live > *capacity) {
      text += fmt::format(
          "{} are live at once where the allocator may hold {}: no setting can let "
          "everything fit, only a smaller workload.",
          human_size(live),
          human_size(*capacity));
    } else if (fails && capacity) {
      text += fmt::format(
          "{} are live at once where the allocator may hold {}: what fails is lost "
          "to fragmentation and rounding, which no setting tried avoids.",
          human_size(live),
          human_size(*capacity));
    } else {
      text += fmt::format(
          "{} are live at once where {} are reserved at the peak: {:.1f} % "
          "efficiency, so no setting could save more than {}.",
          human_size(live),
          human_size(reserved),
          100 * share(live, reserved),
          human_size(std::max(Bytes{0}, reserved - live)));
    }
    verdict.push_back(std::move(text));
  }
}

std::string describe_peaks(const Tuning& tuning, const TunedPoint& point) {
  const Standing& best = point.standing;
  const Standing& now = tuning.now.standing;
  const std::string peak = describe_peak(tuning, point);
  const std::string whose = tuning.subjects.size() > 1 ? " of the worst trace" : "";
  // A run that fails goes on without what it did not get.
  if (best.failures != now.failures) return fmt::format("Its peak reserved{} is {}.", whose, peak);
  const std::string name = describe_choice(tuning, point);
  if (best.worst == now.worst) {
    return fmt::format("{} leaves peak reserved memory{} at {}.", name, whose, peak);
  }
  return fmt::format("{} {} peak reserved memory{} by {}, {} against {}.",
                     name,
                     best.worst < now.worst ? "lowers" : "raises",
                     whose,
                     without_sign(describe_change(tuning, point)),
                     peak,
                     describe_peak(tuning, tuning.now));
}

/// Where the least peak is dear, what is nearly as low may be far cheaper.
void say_what_is_close(const Tuning& tuning, Sentences& verdict) {
  if (tuning.objective != Objective::memory) return;
  const TunedPoint& best = *tuning.recommended;
  const TunedPoint* cheapest = &best;
  for (const TunedPoint& point : tuning.front) {
    const bool close = point.standing.worst <= balanced_margin * best.standing.worst;
    if (close && point.standing.cost.mid < cheapest->standing.cost.mid) cheapest = &point;
  }
  if (is_cheaper(cheapest->standing.cost, best.standing.cost) != Cheaper::yes) return;
  verdict.push_back(fmt::format("Within 5 % of that, {} is cheaper: {}, {} (--objective balanced).",
                                describe_choice(tuning, *cheapest),
                                describe_peak(tuning, *cheapest),
                                human_cost(cheapest->standing.cost)));
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
  verdict.push_back(describe_peaks(tuning, best));
  if (after > 0) {
    say_what_bounds(tuning, verdict);
  } else if (tuning.subjects.size() == 1) {
    verdict.push_back(fmt::format("No setting can go below {}, the most that is live at once.",
                                  human_size(tuning.live_peak.front())));
  }
  verdict.push_back(describe_cost(tuning, best));
  if (tuning.objective == Objective::time && !is_cheapest(tuning, best)) {
    verdict.emplace_back(
        "Which of the front costs least depends on prices and waits; this one does at mid prices.");
  }
  say_what_is_close(tuning, verdict);
  constexpr double little = 0.99;
  const double ratio = best.standing.worst / tuning.now.standing.worst;
  if (before == after && tuning.objective == Objective::memory && ratio > little) {
    verdict.emplace_back(
        "That is less than 1 % of peak reserved: hardly worth a change for memory's sake.");
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

void say_why_nothing_helps(const Tuning& tuning, Sentences& verdict) {
  const bool one_setting = tuning.now.settings != each_as_recorded;
  verdict.push_back(fmt::format("No setting tried is better than now: keep {}.",
                                one_setting ? describe_choice(tuning, tuning.now) : "what is set"));
  if (tuning.now.standing.failures > 0) {
    verdict.push_back(fmt::format("{}, and no fewer under any setting tried.",
                                  failing(tuning.now.standing.failures)));
  }
  say_what_bounds(tuning, verdict);
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
    list += fmt::format("{}{}: {}", list.empty() ? "" : "; ", advised.name, how);
  }
  if (!list.empty()) verdict.push_back(fmt::format("Worse than now: {}.", list));
  for (const AdvisedSetting& advised : tuning.advised) {
    if (advised.refusal.empty()) continue;
    verdict.push_back(fmt::format("{} is refused: {}", advised.name, advised.refusal));
  }
}

void say_what_it_rests_on(const Tuning& tuning, Sentences& verdict) {
  const bool unlimited = std::none_of(
      tuning.capacity.begin(), tuning.capacity.end(), [](auto& m) { return m.has_value(); });
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
  // What runs come to that go on without what they did not get means little.
  if (a.failures > 0) return AgainstNow::no_worse;
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
