#include "replay/steps/step_needs.hpp"

#include <algorithm>
#include <numeric>

namespace fragcast {

std::vector<Bytes> step_needs(const Trace& trace) {
  std::vector<Bytes> sizes(trace.allocations.size());
  Bytes live;
  const auto add = [&](AllocationId id, Bytes size) {
    sizes[id.index()] = size;
    live += size;
  };
  for (const SegmentPicture& segment : trace.initial.heap.segments) {
    for (const BlockPicture& block : segment.blocks) {
      if (block.allocation) add(*block.allocation, block.requested);
    }
  }
  std::vector<Bytes> needs(trace.steps.count());
  std::size_t step = 0;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    while (step < trace.steps.count() && trace.steps.begins[step] <= i) ++step;
    const Event& event = trace.events[i];
    Bytes needed = live;
    if (event.failed_in_recording) {
      needed += event.size;
    } else if (event.kind == EventKind::allocate) {
      add(event.allocation, event.size);
      needed = live;
    } else if (event.kind == EventKind::deallocate) {
      live -= sizes[event.allocation.index()];
    }
    if (step > 0) needs[step - 1] = std::max(needs[step - 1], needed);
  }
  return needs;
}

std::vector<std::size_t> steps_by_need(const Trace& trace) {
  const std::vector<Bytes> needs = step_needs(trace);
  std::vector<std::size_t> numbers(needs.size());
  std::iota(numbers.begin(), numbers.end(), std::size_t{1});
  std::stable_sort(numbers.begin(), numbers.end(), [&](std::size_t a, std::size_t b) {
    return needs[a - 1] > needs[b - 1];
  });
  return numbers;
}

}  // namespace fragcast
