#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "policies/registry.hpp"
#include "replay/engine/session.hpp"
#include "replay/trace/trace.hpp"
#include "tests/support/random_trace.hpp"

namespace fragcast {

/// What is wrong with a trace under some property; empty if nothing is. A broken invariant that is
/// thrown counts as well.
using Property = std::function<std::string(const Trace& trace)>;

/// Random traces to be tried, and under which conditions.
struct Trials {
  TraceShape shape;
  Conditions conditions;
  std::uint64_t seeds = 20;
};

/// Checks a property on random traces. The first that lacks it is shrunk, and fails the test case
/// with what is wrong and the trace as a call script, which a test of its own can be made of.
void check_property(const Trials& trials, const Property& property);

/// What is wrong after one event of a replay; empty if nothing is.
using Look =
    std::function<std::string(Session& session, const Event& event, const EventResult& result)>;

/// Replays a trace, checking the model's books after each event and looking at it; returns the
/// first thing that is wrong.
[[nodiscard]] std::string replay_looking(const Trace& trace,
                                         const ModelEntry& model,
                                         const Look& look);

/// The conditions of the trace, for a session with that model.
[[nodiscard]] RunConditions conditions_of(const Trace& trace, const ModelEntry& model);

}  // namespace fragcast
