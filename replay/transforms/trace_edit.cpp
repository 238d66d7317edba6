#include "replay/transforms/trace_edit.hpp"

#include "sim/core/check.hpp"

namespace fragcast {

TraceEdit::TraceEdit(const Trace& original)
    : original_{original},
      result_{.events = {},
              .source_entries = original.source_entries,
              .allocations = original.allocations,
              .controls = original.controls,
              .labels = original.labels,
              .stacks = original.stacks,
              .initial = original.initial,
              .conditions = original.conditions,
              .addresses = {},
              .steps = original.steps},
      empty_cache_{static_cast<std::uint32_t>(original.controls.size())} {
  result_.controls.emplace_back(control::EmptyCache{});
}

void TraceEdit::pass() {
  FRAGCAST_CHECK(!at_end(), "a trace is edited beyond its end");
  const Steps& steps = original_.steps;
  if (next_step_ < steps.count() && steps.begins[next_step_] == next_) {
    result_.steps.begins[next_step_] = result_.events.size();
    ++next_step_;
  }
  ++next_;
}

void TraceEdit::keep() {
  const Event& event = next();
  pass();
  result_.events.push_back(event);
}

void TraceEdit::insert(Event event) {
  event.source = position() > 0 ? original_.events[position() - 1].source : 0;
  result_.events.push_back(event);
}

void TraceEdit::insert_empty_cache() {
  Event event;
  event.kind = EventKind::control;
  event.detail = empty_cache_;
  insert(event);
}

}  // namespace fragcast
