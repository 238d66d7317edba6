#include "tests/support/transcript.hpp"

#include "tests/support/properties.hpp"

namespace fragcast {
namespace {

Layout without_names(Layout layout) {
  for (SegmentPicture& segment : layout.segments) {
    for (BlockPicture& block : segment.blocks) block.allocation.reset();
  }
  return layout;
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
         a.peak == b.peak && a.device == b.device;
}

}  // namespace fragcast
