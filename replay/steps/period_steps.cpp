#include "replay/steps/period_steps.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <map>
#include <unordered_map>
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

/// Runs that repeat equally often.
struct Witnesses {
  std::size_t runs = 0;
  const std::vector<std::size_t>* earliest = nullptr;

  [[nodiscard]] bool believed() const { return runs >= witnesses; }
};
/// By number of repetitions.
using Repetitions = std::map<std::size_t, Witnesses>;

/// The run that begins the steps; null if none does.
const std::vector<std::size_t>* steps_among(const Repetitions& found) {
  const auto least = std::find_if(
      found.begin(), found.end(), [](const auto& entry) { return entry.second.believed(); });
  if (least == found.end()) return nullptr;
  // Runs that reach from one step into the next repeat once less often than steps do.
  const auto next = std::next(least);
  const bool reaches_over = next != found.end() && next->first == least->first + 1 &&
                            next->second.believed() &&
                            next->second.earliest->front() < least->second.earliest->front();
  return reaches_over ? next->second.earliest : least->second.earliest;
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

  Repetitions found;
  for (const auto& [hash, places] : runs) {
    if (places.size() < 2 || !is_even(places, kinds.size())) continue;
    Witnesses& of_count = found[places.size()];
    ++of_count.runs;
    if (of_count.earliest == nullptr || places.front() < of_count.earliest->front()) {
      of_count.earliest = &places;
    }
  }
  const std::vector<std::size_t>* begins = steps_among(found);
  if (begins == nullptr) return std::nullopt;
  Steps steps{.source = StepSource::period, .begins = {}, .marked_by = "requests that repeat"};
  for (const std::size_t place : *begins) steps.begins.push_back(events[place]);
  return steps;
}

}  // namespace fragcast
