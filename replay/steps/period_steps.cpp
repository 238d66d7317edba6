#include "replay/steps/period_steps.hpp"

#include <algorithm>
#include <bit>
#include <compare>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <vector>

namespace fragcast {
namespace {

/// Allocations in one run: fewer would be found by chance.
constexpr std::size_t run_length = 12;
/// Of the runs that begin within a step, the part (one in so many) that must bear witness before a
/// number of steps is believed: chance makes some that repeat, most of all once.
std::size_t least_share(std::size_t repetitions) { return repetitions == 2 ? 4 : 10; }
/// How much the distances between repetitions may differ: the first step often makes more.
constexpr double most_of_least = 1.5;

/// What makes two allocations alike.
std::uint64_t kind_of(const Trace& trace, const Event& event) {
  const auto size = static_cast<std::uint64_t>(event.size.count());
  const std::uint64_t stack = trace.allocations[event.allocation.index()].stack.value();
  return (stack << 16) ^ (std::uint64_t{event.stream.value()} << 8) ^
         static_cast<std::uint64_t>(std::bit_width(size));
}

/// Of `run_length` kinds in a row.
std::uint64_t hash_of(const std::vector<std::uint64_t>& kinds, std::size_t begin) {
  std::uint64_t hash = 0;
  for (std::size_t i = begin; i < begin + run_length; ++i) {
    hash = (hash ^ kinds[i]) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  return hash;
}

/// Some allocations in a row.
struct Run {
  std::uint64_t hash = 0;
  /// Of the first, among all allocations.
  std::size_t place = 0;
  auto operator<=>(const Run&) const = default;
};

/// Runs that repeat equally often.
struct Witnesses {
  std::size_t count = 0;
  std::span<const Run> earliest;
};

/// Whether repetitions are spread over the trace, in even distances.
bool is_even(std::span<const Run> runs, std::size_t all) {
  std::size_t least = all;
  std::size_t most = 0;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    const std::size_t distance = runs[i].place - runs[i - 1].place;
    least = std::min(least, distance);
    most = std::max(most, distance);
  }
  const std::size_t reach = runs.back().place - runs.front().place;
  // n steps leave n − 1 distances, and the last step behind them.
  return static_cast<double>(most) <= most_of_least * static_cast<double>(least) &&
         reach * (runs.size() + 1) >= all * (runs.size() - 1) && least >= run_length;
}

/// The allocations of a trace, in order.
struct Allocations {
  /// Their events.
  std::vector<std::size_t> events;
  std::vector<std::uint64_t> kinds;
  /// Bytes of the trace's own allocations that are live before each.
  std::vector<Bytes> live_before;

  explicit Allocations(const Trace& trace) {
    std::vector<Bytes> sizes(trace.allocations.size());
    Bytes live;
    for (std::size_t i = 0; i < trace.events.size(); ++i) {
      const Event& event = trace.events[i];
      if (event.kind == EventKind::deallocate) live -= sizes[event.allocation.index()];
      if (event.kind != EventKind::allocate) continue;
      events.push_back(i);
      kinds.push_back(kind_of(trace, event));
      live_before.push_back(live);
      live += event.size;
      sizes[event.allocation.index()] = event.size;
    }
  }
};

/// From one to the next, on average.
std::size_t distance_of(std::span<const Run> runs) {
  return (runs.back().place - runs.front().place) / (runs.size() - 1);
}

/// By number of repetitions.
using Repetitions = std::map<std::size_t, Witnesses>;

bool is_believed(const Repetitions::value_type& entry) {
  const auto& [repetitions, witnesses] = entry;
  return witnesses.count * least_share(repetitions) >= distance_of(witnesses.earliest);
}

/// The runs that begin the steps; none if no number of repetitions is believed.
std::span<const Run> steps_among(const Repetitions& found) {
  const auto least = std::find_if(found.begin(), found.end(), is_believed);
  if (least == found.end()) return {};
  // Runs that reach from one step into the next repeat once less often than steps do.
  const auto next = std::next(least);
  const bool reaches_over =
      next != found.end() && next->first == least->first + 1 && is_believed(*next) &&
      next->second.earliest.front().place < least->second.earliest.front().place;
  return reaches_over ? next->second.earliest : least->second.earliest;
}

/// How far before `runs`, all by the same distance, least is live: there a step ends and the next
/// begins. At most one period, and not before the first allocation.
std::size_t way_back(std::span<const Run> runs, const std::vector<Bytes>& live_before) {
  const std::size_t most = std::min(runs.front().place, runs[1].place - runs[0].place - 1);
  std::size_t best = 0;
  Bytes least = Bytes::unlimited();
  for (std::size_t back = 0; back <= most; ++back) {
    Bytes live;
    // Before the first run may be what happens once only.
    for (const Run& run : runs.subspan(1)) live += live_before[run.place - back];
    if (live >= least) continue;
    least = live;
    best = back;
  }
  return best;
}

}  // namespace

std::optional<Steps> steps_by_period(const Trace& trace) {
  const Allocations allocations{trace};
  const std::vector<std::uint64_t>& kinds = allocations.kinds;
  if (kinds.size() < 2 * run_length) return std::nullopt;

  std::vector<Run> runs;
  runs.reserve(kinds.size());
  for (std::size_t i = 0; i + run_length <= kinds.size(); ++i) {
    runs.push_back({.hash = hash_of(kinds, i), .place = i});
  }
  std::sort(runs.begin(), runs.end());

  // By number of repetitions: how many runs bear witness, and the earliest of them.
  Repetitions found;
  for (auto first = runs.begin(); first != runs.end();) {
    const auto last = std::find_if(
        first, runs.end(), [first](const Run& run) { return run.hash != first->hash; });
    const std::span<const Run> alike{first, last};
    first = last;
    if (alike.size() < 2 || !is_even(alike, kinds.size())) continue;
    Witnesses& witnesses = found[alike.size()];
    ++witnesses.count;
    if (witnesses.earliest.empty() || alike.front().place < witnesses.earliest.front().place) {
      witnesses.earliest = alike;
    }
  }
  const std::span<const Run> begins = steps_among(found);
  if (begins.empty()) return std::nullopt;
  Steps steps{.source = StepSource::period, .begins = {}, .marked_by = "requests that repeat"};
  const std::size_t back = way_back(begins, allocations.live_before);
  for (const Run& run : begins) steps.begins.push_back(allocations.events[run.place - back]);
  return steps;
}

}  // namespace fragcast
