#include "replay/explain/growth.hpp"

#include <algorithm>

#include "replay/engine/session.hpp"
#include "replay/formats/input_error.hpp"

namespace fragcast {
namespace {

/// What a request was served from: blocks of one are of no use to another.
struct PoolKey {
  StreamId stream;
  PoolKind kind = PoolKind::large;
  PoolId pool;

  explicit PoolKey(const SegmentPicture& segment)
      : stream{segment.stream}, kind{segment.kind}, pool{segment.pool} {}
  bool operator==(const PoolKey&) const = default;
};

/// The largest blocks of a heap, from the place of one pool.
struct Holes {
  Bytes usable;
  Bytes largest;
  Bytes largest_pending;
  Bytes largest_on_other_stream;
  Bytes largest_in_other_pool;
  bool any_reserved = false;
};

Bytes largest(const SegmentPicture& segment, BlockState state) {
  Bytes size;
  for (const BlockPicture& block : segment.blocks) {
    if (block.state == state) size = std::max(size, block.size);
  }
  return size;
}

Holes look_from(const PoolKey& own, const Layout& heap) {
  Holes holes;
  for (const SegmentPicture& segment : heap.segments) {
    const PoolKey key{segment};
    const Bytes hole = largest(segment, BlockState::free);
    if (key == own) {
      holes.any_reserved = true;
      holes.largest = std::max(holes.largest, hole);
      holes.largest_pending =
          std::max(holes.largest_pending, largest(segment, BlockState::pending));
      for (const BlockPicture& block : segment.blocks) {
        if (block.state == BlockState::free) holes.usable += block.size;
      }
    } else if (key.kind == own.kind && key.pool == own.pool) {
      holes.largest_on_other_stream = std::max(holes.largest_on_other_stream, hole);
    } else if (key.stream == own.stream) {
      holes.largest_in_other_pool = std::max(holes.largest_in_other_pool, hole);
    }
  }
  return holes;
}

GrowthReason reason_of(Bytes need, const Holes& holes) {
  if (holes.largest >= need) return GrowthReason::max_split;
  if (holes.usable >= need) return GrowthReason::no_hole_fits;
  if (holes.largest_pending >= need) return GrowthReason::pending;
  if (holes.largest_on_other_stream >= need) return GrowthReason::other_stream;
  if (holes.largest_in_other_pool >= need) return GrowthReason::wrong_pool;
  return holes.any_reserved ? GrowthReason::pool_full : GrowthReason::first_use;
}

/// What the device has given so far.
Bytes given(const Session& session) {
  const DeviceCounters& counters = session.device().counters();
  return counters.segment_bytes_allocated + counters.bytes_mapped;
}

bool is_request(const Event& event) {
  return event.kind == EventKind::allocate || event.kind == EventKind::deallocate;
}

/// Events for which the device was asked, by a first replay: pictures of the heap are dear.
std::vector<std::size_t> growing_events(const Trace& trace, const RunConditions& conditions) {
  Session session{trace, conditions};
  if (!session.refusal().empty()) throw InputError{{}, session.refusal()};
  std::vector<std::size_t> events;
  while (!session.at_end()) {
    const Bytes before = given(session);
    const EventResult result = session.step();
    const bool placed = result.kind == EventResult::Kind::placed;
    if (placed && given(session) > before) events.push_back(session.position() - 1);
  }
  return events;
}

const SegmentPicture* segment_at(const Layout& heap, Address address) {
  const auto found =
      std::find_if(heap.segments.begin(), heap.segments.end(), [&](const SegmentPicture& segment) {
        return segment.address <= address && address < segment.address + segment.size;
      });
  return found == heap.segments.end() ? nullptr : &*found;
}

/// Carries out the request that comes next, and takes it apart.
Growth take_apart(Session& session) {
  const Event& event = session.next();
  const Layout before = session.model().layout();
  const Bytes given_before = given(session);
  Growth growth{.event = session.position(),
                .request = 0,
                .step = 0,
                .allocation = event.allocation,
                .size = event.size,
                .need = session.model().block_size(event.size),
                .asked = {},
                .reserved = current_usage(session.model().statistics()).reserved,
                .gap = measure_fragmentation(before),
                .usable = {},
                .largest_hole = {},
                .reason = GrowthReason::pool_full,
                .last_of_step = false};
  if (event.failed_in_recording) growth.need = event.size;
  const EventResult result = session.step();
  growth.asked = given(session) - given_before;
  const Layout after = session.model().layout();
  if (const SegmentPicture* segment = segment_at(after, result.placement.address)) {
    const Holes holes = look_from(PoolKey{*segment}, before);
    growth.usable = holes.usable;
    growth.largest_hole = holes.largest;
    growth.reason = reason_of(growth.need, holes);
  }
  return growth;
}

void mark(GrowthTable& table) {
  std::vector<Growth>& growths = table.growths;
  for (std::size_t i = 0; i < growths.size(); ++i) {
    const Growth& growth = growths[i];
    growths[i].last_of_step = i + 1 == growths.size() || growths[i + 1].step != growth.step;
    ++table.per_step[growth.step];
    const auto gap = [&](std::size_t j) { return growths[j].reserved - growths[j].gap.requested; };
    if (!table.greatest_gap || gap(i) > gap(*table.greatest_gap)) table.greatest_gap = i;
  }
}

}  // namespace

std::string_view name_of(GrowthReason reason) {
  switch (reason) {
    case GrowthReason::max_split:
      return "max_split";
    case GrowthReason::no_hole_fits:
      return "no_hole_fits";
    case GrowthReason::pending:
      return "pending";
    case GrowthReason::other_stream:
      return "other_stream";
    case GrowthReason::wrong_pool:
      return "wrong_pool";
    case GrowthReason::first_use:
      return "first_use";
    case GrowthReason::pool_full:
      return "pool_full";
  }
  return {};
}

Bytes Growth::avoidable() const { return asked - std::max(Bytes{0}, need - usable); }

GrowthTable find_growths(const Trace& trace, const RunConditions& conditions) {
  GrowthTable table;
  table.per_step.resize(trace.steps.count() + 1);
  const std::vector<std::size_t> events = growing_events(trace, conditions);
  Session session{trace, conditions};
  std::uint64_t request = 0;
  std::size_t step = 0;
  for (const std::size_t event : events) {
    while (session.position() < event) {
      if (is_request(session.next())) ++request;
      session.step();
    }
    while (step < trace.steps.count() && trace.steps.begins[step] <= event) ++step;
    Growth growth = take_apart(session);
    growth.request = ++request;
    growth.step = step;
    table.growths.push_back(growth);
  }
  mark(table);
  return table;
}

}  // namespace fragcast
