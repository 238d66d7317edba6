#include "replay/steps/period_steps.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fragcast {
namespace {

/// Allocations in one run: fewer would be found by chance.
constexpr std::size_t run_length = 12;
/// Runs that must agree before a number of steps is believed.
constexpr std::size_t witnesses = 3;
/// How much the distances between repetitions may differ.
constexpr double most_of_least = 2.0;

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

/// Whether repetitions are spread over the trace, in even distances.
bool is_even(const std::vector<std::size_t>& places, std::size_t all) {
  std::size_t least = all;
  std::size_t most = 0;
  for (std::size_t i = 1; i < places.size(); ++i) {
    least = std::min(least, places[i] - places[i - 1]);
    most = std::max(most, places[i] - places[i - 1]);
  }
  const std::size_t reach = places.back() - places.front();
  // n steps leave n − 1 distances, and the last step behind them.
  return static_cast<double>(most) <= most_of_least * static_cast<double>(least) &&
         reach * (places.size() + 1) >= all * (places.size() - 1) && least >= run_length;
}

}  // namespace

std::optional<Steps> steps_by_period(const Trace& trace) {
  std::vector<std::size_t> events;
  std::vector<std::uint64_t> kinds;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    if (event.kind != EventKind::allocate) continue;
    events.push_back(i);
    kinds.push_back(kind_of(trace, event));
  }
  if (kinds.size() < 2 * run_length) return std::nullopt;

  std::unordered_map<std::uint64_t, std::vector<std::size_t>> runs;
  for (std::size_t i = 0; i + run_length <= kinds.size(); ++i) runs[hash_of(kinds, i)].push_back(i);

  // By number of repetitions: how many runs bear witness, and the earliest of them.
  std::map<std::size_t, std::pair<std::size_t, const std::vector<std::size_t>*>> found;
  for (const auto& [hash, places] : runs) {
    if (places.size() < 2 || !is_even(places, kinds.size())) continue;
    auto& [count, earliest] = found[places.size()];
    ++count;
    if (earliest == nullptr || places.front() < earliest->front()) earliest = &places;
  }
  for (const auto& [repetitions, witness] : found) {
    if (witness.first < witnesses) continue;
    Steps steps{.source = StepSource::period, .begins = {}, .marked_by = "requests that repeat"};
    for (const std::size_t place : *witness.second) steps.begins.push_back(events[place]);
    return steps;
  }
  return std::nullopt;
}

}  // namespace fragcast
