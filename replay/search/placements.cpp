#include "replay/search/placements.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "replay/steps/step_needs.hpp"
#include "replay/transforms/empty_cache.hpp"

namespace fragcast {
namespace {

/// Of a trace without steps.
constexpr std::uint64_t parts = 10;
/// Every so many steps; each only where it calls twice at least.
constexpr std::array<std::uint64_t, 3> strides{2, 4, 8};
/// Before so many of the steps that need most.
constexpr std::array<std::size_t, 2> worst_steps{2, 4};
/// Of different text.
constexpr std::size_t most_marks = 4;
/// Of reserved memory that is allocated at a step's end.
constexpr std::array<double, 2> utilisations{0.5, 0.8};

CallPlacement placement_of(std::vector<Emptying> emptyings) {
  std::string name = to_text(emptyings);
  return {.name = std::move(name), .plan = EmptyCacheAt{std::move(emptyings)}};
}

/// Reserved less allocated, at the step's end where it is greatest.
Bytes greatest_gap(const Trace& trace, const Run& run) {
  Bytes greatest;
  for (std::size_t number = 1; number <= trace.steps.count(); ++number) {
    const std::size_t end = trace.steps.end_of(number, trace.events.size());
    if (end == 0 || end > run.series.size()) continue;
    const Usage& usage = run.series[end - 1];
    greatest = std::max(greatest, usage.reserved - usage.allocated);
  }
  return greatest;
}

std::uint64_t requests_in(const Trace& trace) {
  std::uint64_t count = 0;
  for (const Event& event : trace.events) {
    if (event.kind == EventKind::allocate || event.kind == EventKind::deallocate) ++count;
  }
  return count;
}

void add_by_steps(const Trace& trace, const Run& without_calls, std::vector<CallPlacement>& out) {
  const std::size_t steps = trace.steps.count();
  out.push_back(placement_of({emptying::StepEnd{}}));
  for (const std::uint64_t stride : strides) {
    if (2 * stride <= steps) out.push_back(placement_of({emptying::StepEnd{stride}}));
  }
  out.push_back(placement_of({emptying::BeforeLongestStep{}}));
  const std::vector<std::size_t> by_need = steps_by_need(trace);
  for (const std::size_t count : worst_steps) {
    if (count >= steps) break;
    std::vector<std::size_t> worst{by_need.begin(),
                                   by_need.begin() + static_cast<std::ptrdiff_t>(count)};
    std::sort(worst.begin(), worst.end());
    std::vector<Emptying> emptyings;
    emptyings.reserve(count);
    for (const std::size_t step : worst) {
      emptyings.emplace_back(emptying::At{place::AtStep{.number = step}});
    }
    out.push_back(placement_of(std::move(emptyings)));
  }
  for (const double share : utilisations) {
    out.push_back(placement_of({emptying::WhenUtilisation{share}}));
  }
  const Bytes half = round_down(Bytes{greatest_gap(trace, without_calls).count() / 2}, 2_MiB);
  if (half > Bytes{0}) out.push_back(placement_of({emptying::WhenGap{half}}));
}

/// Where the program says that something begins or ends.
void add_by_marks(const Trace& trace, std::vector<CallPlacement>& out) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < trace.events.size() && texts.size() < most_marks; ++i) {
    const Event& event = trace.events[i];
    if (event.kind != EventKind::mark) continue;
    const std::string& text = trace.labels[event.detail];
    // A comma would end it where the name is to be pasted.
    if (text.empty() || text.find(',') != std::string::npos) continue;
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }
  for (std::string& text : texts) {
    out.push_back(placement_of({emptying::Marker{std::move(text)}}));
  }
}

}  // namespace

CallPlacement no_calls() { return {.name = "none", .plan = DropEmptyCache{}}; }

bool calls_empty_cache(const Trace& trace) {
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    if (is_empty_cache(trace, trace.events[i])) return true;
  }
  return false;
}

std::vector<CallPlacement> sensible_placements(const Trace& trace,
                                               const Trace& trace_without_calls,
                                               const Run& without_calls) {
  std::vector<CallPlacement> placements;
  if (calls_empty_cache(trace)) {
    placements.push_back({.name = "as recorded", .plan = KeepEmptyCache{}});
  }
  if (!trace_without_calls.steps.empty()) {
    add_by_steps(trace_without_calls, without_calls, placements);
  }
  add_by_marks(trace_without_calls, placements);
  if (!trace_without_calls.steps.empty()) return placements;
  if (const std::uint64_t each = requests_in(trace) / parts; each > 0) {
    placements.push_back(placement_of({emptying::Every{each}}));
  }
  return placements;
}

}  // namespace fragcast
