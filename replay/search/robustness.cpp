#include "replay/search/robustness.hpp"

#include <array>
#include <cstddef>
#include <utility>

#include "replay/engine/parallel.hpp"

namespace fragcast {
namespace {

enum class Needs : std::uint8_t { nothing, initial_heap, known_memory };

struct Circumstances {
  std::string_view id;
  std::string_view name;
  Variation variation;
  Needs needs = Needs::nothing;
};

constexpr std::array<Circumstances, 5> circumstances{{
    {.id = "cold_start",
     .name = "initial blocks placed anew, in order of address",
     .variation = {},
     .needs = Needs::initial_heap},
    {.id = "largest_first",
     .name = "initial blocks placed anew, the largest first",
     .variation = {.start = Start::cold_largest_first},
     .needs = Needs::initial_heap},
    {.id = "sizes_up",
     .name = "requests 1 % larger",
     .variation = {.size_factor = 1.01},
     .needs = Needs::nothing},
    {.id = "sizes_down",
     .name = "requests 1 % smaller",
     .variation = {.size_factor = 0.99},
     .needs = Needs::nothing},
    {.id = "less_memory",
     .name = "95 % of the device's memory",
     .variation = {.memory_share = 0.95},
     .needs = Needs::known_memory},
}};

bool applies(const Circumstances& one, const Workload& workload) {
  if (one.needs == Needs::nothing) return true;
  for (std::size_t i = 0; i < workload.size(); ++i) {
    const bool has = one.needs == Needs::initial_heap
                         ? !workload.trace(i).initial.empty()
                         : workload.conditions(i).device_memory.has_value();
    if (has) return true;
  }
  return false;
}

}  // namespace

std::vector<Robustness> check_robustness(const Workload& workload,
                                         const Choice& now,
                                         const Choice& recommended,
                                         unsigned threads) {
  std::vector<Circumstances> tried;
  for (const Circumstances& one : circumstances) {
    if (applies(one, workload)) tried.push_back(one);
  }
  std::vector<TunedPoint> points = parallel_map(2 * tried.size(), threads, [&](std::size_t i) {
    // Without rivals no run is abandoned.
    return *workload.evaluate(i % 2 == 0 ? now : recommended, tried[i / 2].variation, {});
  });
  std::vector<Robustness> results;
  for (std::size_t i = 0; i < tried.size(); ++i) {
    results.push_back({.id = tried[i].id,
                       .name = tried[i].name,
                       .now = std::move(points[2 * i]),
                       .recommended = std::move(points[2 * i + 1])});
  }
  return results;
}

}  // namespace fragcast
