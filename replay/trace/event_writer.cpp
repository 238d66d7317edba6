#include "replay/trace/event_writer.hpp"

#include <limits>

namespace fragcast {

void EventWriter::write(Event event) {
  event.source = source_;
  trace_.events.push_back(event);
}

template <class Call>
void EventWriter::control(const Call& call) {
  const Control variant{call};
  PoolId pool;
  if constexpr (requires { call.pool; }) pool = call.pool;
  const auto next = static_cast<std::uint32_t>(trace_.controls.size());
  const auto [place, fresh] = calls_.emplace(std::pair{variant.index(), pool}, next);
  if (fresh) trace_.controls.push_back(variant);
  write({.size = {},
         .allocation = {},
         .detail = place->second,
         .stream = {},
         .kind = EventKind::control});
}

void EventWriter::allocate(const Request& request) {
  if (request.pool != scope_) enter(request.pool);
  write({.size = request.size,
         .allocation = request.id,
         .stream = request.stream,
         .kind = EventKind::allocate,
         .failed_in_recording = request.failed});
}

void EventWriter::deallocate(AllocationId id) {
  write({.size = {}, .allocation = id, .stream = {}, .kind = EventKind::deallocate});
}

std::optional<StreamId> EventWriter::hold_back() {
  if (spare_streams_.empty()) {
    if (next_stream_ > std::numeric_limits<std::uint16_t>::max()) return std::nullopt;
    spare_streams_.emplace_back(next_stream_++);
  }
  const StreamId stream = spare_streams_.back();
  spare_streams_.pop_back();
  ++held_back_;
  return stream;
}

std::optional<StreamId> EventWriter::deallocate_later(AllocationId id) {
  const std::optional<StreamId> stream = hold_back();
  if (stream) {
    write({.size = {}, .allocation = id, .stream = *stream, .kind = EventKind::record_stream});
  }
  deallocate(id);
  return stream;
}

void EventWriter::complete(const std::vector<StreamId>& streams) {
  if (streams.size() > 1 && streams.size() == held_back_) {
    write({.size = {}, .allocation = {}, .stream = {}, .kind = EventKind::complete_all});
  } else {
    for (const StreamId stream : streams) {
      write({.size = {}, .allocation = {}, .stream = stream, .kind = EventKind::complete_events});
    }
  }
  spare_streams_.insert(spare_streams_.end(), streams.begin(), streams.end());
  held_back_ -= streams.size();
}

void EventWriter::empty_cache() {
  leave_scope();
  control(control::EmptyCache{});
}

void EventWriter::empty_pool(PoolId pool) {
  leave_scope();
  control(control::PoolEmpty{pools_[pool].number});
}

PoolId EventWriter::number_of(PoolId pool) const {
  const auto state = pools_.find(pool);
  return state == pools_.end() ? pool : state->second.number;
}

void EventWriter::release_pool(PoolId pool) {
  PoolState& state = pools_[pool];
  if (!state.in_use) return;
  leave_scope();
  control(control::PoolRelease{state.number});
  state.in_use = false;
}

void EventWriter::enter(PoolId pool) {
  leave_scope();
  if (pool == PoolId{}) return;
  PoolState& state = pools_[pool];
  if (!state.in_use) {
    const bool first = state.number == PoolId{};
    state = {.number = first ? pool : PoolId{next_pool_++}, .in_use = true};
    control(control::PoolCreate{state.number});
  }
  control(control::PoolBegin{state.number});
  scope_ = pool;
}

void EventWriter::leave_scope() {
  if (scope_ == PoolId{}) return;
  const PoolId number = pools_[scope_].number;
  control(control::PoolEnd{number});
  // What its beginning took. The reference from when the pool was made stays.
  control(control::PoolRelease{number});
  scope_ = PoolId{};
}

}  // namespace fragcast
