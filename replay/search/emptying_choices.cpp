#include "replay/search/emptying_choices.hpp"

#include <algorithm>
#include <variant>

namespace fragcast {
namespace {

bool empties_cache(const Trace* trace) {
  return std::any_of(trace->events.begin(), trace->events.end(), [trace](const Event& event) {
    return event.kind == EventKind::control &&
           std::holds_alternative<control::EmptyCache>(trace->controls[event.detail]);
  });
}

}  // namespace

std::vector<EmptyCachePlan> emptying_choices(const std::vector<const Trace*>& traces) {
  std::vector<EmptyCachePlan> plans;
  if (std::any_of(traces.begin(), traces.end(), empties_cache))
    plans.emplace_back(DropEmptyCache{});
  const bool have_steps = std::all_of(
      traces.begin(), traces.end(), [](const Trace* trace) { return !trace->steps.empty(); });
  if (!have_steps) return plans;
  plans.emplace_back(EmptyCacheAt{{emptying::StepEnd{}}});
  plans.emplace_back(EmptyCacheAt{{emptying::StepEnd{.every = 2}}});
  plans.emplace_back(EmptyCacheAt{{emptying::BeforeLongestStep{}}});
  return plans;
}

}  // namespace fragcast
