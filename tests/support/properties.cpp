#include "tests/support/properties.hpp"

#include <fmt/format.h>

#include "sim/core/check.hpp"
#include "tests/support/catch.hpp"

namespace fragcast {
namespace {

std::string what_is_wrong(const Property& property, const Trace& trace) {
  try {
    return property(trace);
  } catch (const InvariantError& broken) {
    return broken.what();
  }
}

}  // namespace

void check_property(const Trials& trials, const Property& property) {
  for (std::uint64_t seed = 0; seed < trials.seeds; ++seed) {
    Trace trace = random_trace(trials.shape, choose_by_seed(seed));
    trace.conditions = trials.conditions;
    if (what_is_wrong(property, trace).empty()) continue;
    const Trace smallest = shrink(
        trace, [&](const Trace& smaller) { return !what_is_wrong(property, smaller).empty(); });
    FAIL("seed " << seed << ": " << what_is_wrong(property, smallest) << "\n"
                 << script_of(smallest));
  }
  SUCCEED();
}

std::string replay_looking(const Trace& trace, const ModelEntry& model, const Look& look) {
  Session session{trace, conditions_of(trace, model)};
  if (!session.refusal().empty()) return session.refusal();
  while (!session.at_end()) {
    const Event& event = session.next();
    const std::size_t index = session.position();
    const EventResult result = session.step();
    session.model().check();
    std::string wrong = look(session, event, result);
    if (!wrong.empty()) return fmt::format("after event {}: {}", index, wrong);
  }
  return {};
}

RunConditions conditions_of(const Trace& trace, const ModelEntry& model) {
  RunSpec spec;
  spec.model = &model;
  return resolve_conditions(trace, spec);
}

}  // namespace fragcast
