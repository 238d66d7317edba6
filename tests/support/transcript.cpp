#include "tests/support/transcript.hpp"

#include <tuple>

#include "tests/support/properties.hpp"

namespace fragcast {
namespace {

Layout without_names(Layout layout) {
  for (SegmentPicture& segment : layout.segments) {
    for (BlockPicture& block : segment.blocks) block.allocation.reset();
  }
  return layout;
}

auto all_of(const DeviceCounters& c) {
  return std::tie(c.segments_allocated,
                  c.segments_freed,
                  c.pages_created,
                  c.pages_destroyed,
                  c.maps,
                  c.unmaps,
                  c.ranges_reserved,
                  c.ranges_released,
                  c.device_syncs,
                  c.event_syncs);
}

}  // namespace

Transcript transcript_of(const Trace& trace, const ModelEntry& model) {
  Transcript result;
  Session session{trace, conditions_of(trace, model)};
  session.model().attach_log(&result.log);
  while (!session.at_end()) {
    const EventResult step = session.step();
    if (step.kind == EventResult::Kind::placed) {
      result.placements.push_back({step.placement.address, step.placement.size});
    }
  }
  session.model().attach_log(nullptr);
  result.layout = without_names(session.model().layout());
  result.peak = session.totals().peak;
  result.device = session.device().counters();
  return result;
}

bool is_same(const Transcript& a, const Transcript& b) {
  return a.placements == b.placements && a.log == b.log && a.layout == b.layout &&
         a.peak == b.peak && all_of(a.device) == all_of(b.device);
}

}  // namespace fragcast
