#include "replay/search/emptying_choices.hpp"

#include <algorithm>

#include "replay/search/placements.hpp"

namespace fragcast {

std::vector<EmptyCachePlan> emptying_choices(const std::vector<const Trace*>& traces) {
  std::vector<EmptyCachePlan> plans;
  const bool have_calls = std::any_of(
      traces.begin(), traces.end(), [](const Trace* trace) { return calls_empty_cache(*trace); });
  if (have_calls) plans.emplace_back(no_calls().plan);
  const bool have_steps = std::all_of(
      traces.begin(), traces.end(), [](const Trace* trace) { return !trace->steps.empty(); });
  if (!have_steps) return plans;
  plans.emplace_back(EmptyCacheAt{{emptying::StepEnd{}}});
  plans.emplace_back(EmptyCacheAt{{emptying::StepEnd{.every = 2}}});
  plans.emplace_back(EmptyCacheAt{{emptying::BeforeLongestStep{}}});
  return plans;
}

}  // namespace fragcast
