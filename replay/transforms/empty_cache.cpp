#include "replay/transforms/empty_cache.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace fragcast {
namespace {

bool empties_cache(const Trace& trace, const Event& event) {
  if (event.kind != EventKind::control) return false;
  const Control& call = trace.controls[event.detail];
  return std::holds_alternative<control::EmptyCache>(call) ||
         std::holds_alternative<control::PoolEmpty>(call);
}

}  // namespace

EmptyCacheChange replace_empty_cache(const Trace& trace, std::vector<std::size_t> positions) {
  std::sort(positions.begin(), positions.end());
  EmptyCacheChange change{.trace = {.events = {},
                                    .allocations = trace.allocations,
                                    .controls = trace.controls,
                                    .labels = trace.labels,
                                    .stacks = trace.stacks,
                                    .initial = trace.initial,
                                    .conditions = trace.conditions,
                                    .addresses = {}}};
  const auto empty_cache = static_cast<std::uint32_t>(change.trace.controls.size());
  change.trace.controls.emplace_back(control::EmptyCache{});

  auto next = positions.begin();
  std::uint32_t source = 0;
  const auto insert_up_to = [&](std::size_t done) {
    for (; next != positions.end() && *next <= done; ++next, ++change.inserted) {
      change.trace.events.push_back({.size = {},
                                     .allocation = {},
                                     .source = source,
                                     .detail = empty_cache,
                                     .stream = {},
                                     .kind = EventKind::control});
    }
  };
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    insert_up_to(i);
    const Event& event = trace.events[i];
    source = event.source;
    if (empties_cache(trace, event)) {
      ++change.dropped;
    } else {
      change.trace.events.push_back(event);
    }
  }
  insert_up_to(trace.events.size());
  return change;
}

}  // namespace fragcast
