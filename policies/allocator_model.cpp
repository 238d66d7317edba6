#include "policies/allocator_model.hpp"

#include <fmt/format.h>

#include "sim/core/check.hpp"

namespace fragcast {

AllocateOutcome AllocatorModel::allocate(const AllocateRequest& request) {
  Liveness& liveness = live_[request.id];
  FRAGCAST_CHECK(liveness == Liveness::dead,
                 fmt::format("allocation {} is already live", request.id.value()));
  FRAGCAST_CHECK(request.size >= Bytes{0}, "a request has a negative size");
  if (request.size == Bytes{0}) {
    liveness = Liveness::live_empty;
    return Placement{};
  }
  AllocateOutcome outcome = do_allocate(request);
  if (std::holds_alternative<Placement>(outcome)) liveness = Liveness::live;
  return outcome;
}

void AllocatorModel::deallocate(AllocationId id) {
  FRAGCAST_CHECK(is_live(id), fmt::format("free of allocation {}, which is not live", id.value()));
  Liveness& liveness = live_[id];
  if (liveness == Liveness::live) do_deallocate(id);
  liveness = Liveness::dead;
}

void AllocatorModel::record_stream(AllocationId id, StreamId stream) {
  FRAGCAST_CHECK(is_live(id),
                 fmt::format("record_stream of allocation {}, which is not live", id.value()));
  if (live_[id] == Liveness::live) do_record_stream(id, stream);
}

ControlRefusal AllocatorModel::apply(const Control& control) { return do_apply(control); }

ControlRefusal AllocatorModel::restore(const Layout& heap) {
  ControlRefusal refusal = do_restore(heap);
  if (!refusal.empty()) return refusal;
  for (const SegmentPicture& segment : heap.segments) {
    for (const BlockPicture& block : segment.blocks) {
      if (block.allocation) live_[*block.allocation] = Liveness::live;
    }
  }
  return {};
}

ControlRefusal AllocatorModel::do_restore(const Layout&) {
  return "this model cannot start from a recorded heap";
}

void AllocatorModel::restart_statistics() {
  ledger_.counters().reset_peak();
  ledger_.counters().reset_accumulated();
}

}  // namespace fragcast
