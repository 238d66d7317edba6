#include "replay/engine/session.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

namespace fragcast {
namespace {

DeviceProfile profile_of(const RunConditions& conditions) {
  DeviceProfile profile;
  profile.total = conditions.device_total();
  profile.held_by_others = conditions.others;
  profile.capacity = conditions.device_memory ? Capacity::limited : Capacity::unlimited;
  profile.instant_events = conditions.instant_events;
  return profile;
}

Usage highest(const Usage& a, const Usage& b) {
  return {.requested = std::max(a.requested, b.requested),
          .allocated = std::max(a.allocated, b.allocated),
          .active = std::max(a.active, b.active),
          .reserved = std::max(a.reserved, b.reserved)};
}

void add_counts(RunTotals& totals, const Statistics& statistics) {
  totals.device_allocs += statistics.num_device_alloc;
  totals.device_frees += statistics.num_device_free;
  totals.alloc_retries += statistics.num_alloc_retries;
  totals.ooms += statistics.num_ooms;
  totals.oom_rejections += statistics.num_oom_rejections;
}

/// A live block of the heap that a trace began with, as a cold start has to ask for it.
struct InitialRequest {
  PoolId pool;
  StreamId stream;
  Address address;
  AllocationId allocation;
  Bytes size;
};

/// All of them, pool by pool, in each stream by stream, in each by address or the largest first.
std::vector<InitialRequest> initial_requests(const Layout& heap, Start start) {
  std::vector<InitialRequest> requests;
  for (const SegmentPicture& segment : heap.segments) {
    for (const BlockPicture& block : segment.blocks) {
      if (!block.allocation) continue;
      requests.push_back({.pool = segment.pool,
                          .stream = segment.stream,
                          .address = block.address,
                          .allocation = *block.allocation,
                          .size = block.requested});
    }
  }
  // What is placed largest first goes before address; of one size all stay in order of address.
  const auto rank = [start](const InitialRequest& request) {
    return start == Start::cold_largest_first ? -request.size : Bytes{0};
  };
  std::sort(requests.begin(), requests.end(), [&](const auto& a, const auto& b) {
    const Bytes rank_a = rank(a);
    const Bytes rank_b = rank(b);
    return std::tie(a.pool, a.stream, rank_a, a.address) <
           std::tie(b.pool, b.stream, rank_b, b.address);
  });
  return requests;
}

}  // namespace

Session::Session(const Trace& trace, const RunConditions& conditions)
    : trace_{trace}, conditions_{conditions}, device_{profile_of(conditions)} {
  if (conditions_.addresses == DeviceAddresses::recorded) {
    const auto& [segments, ranges] = trace_.addresses;
    device_.plan_segments({segments.begin(), segments.end()});
    device_.plan_ranges({ranges.begin(), ranges.end()});
  }
  refusal_ = make_model();
  if (!refusal_.empty()) return;
  switch (conditions_.start) {
    case Start::empty:
      refusal_ = set_fraction();
      return;
    case Start::warm:
      refusal_ = start_warm();
      break;
    case Start::cold:
    case Start::cold_largest_first:
      refusal_ = start_cold();
      break;
  }
  if (!refusal_.empty()) return;
  free_pending();
  model_->restart_statistics();
  device_.reset_counters();
}

ControlRefusal Session::make_model() {
  MadeModel made = conditions_.release().make(
      {.settings = conditions_.settings, .soc = conditions_.soc}, device_);
  model_ = std::move(made.model);
  warnings_ = std::move(made.warnings);
  return std::move(made.refusal);
}

ControlRefusal Session::set_fraction() {
  if (!conditions_.fraction) return {};
  return model_->apply(control::SetFraction{*conditions_.fraction});
}

ControlRefusal Session::start_warm() {
  for (const SegmentPicture& segment : trace_.initial.heap.segments) {
    const Extent taken = segment.range.value_or(segment.extent());
    device_.place_beyond(taken.end());
  }
  ControlRefusal refusal = model_->restore(trace_.initial.heap);
  return refusal.empty() ? set_fraction() : refusal;
}

ControlRefusal Session::start_cold() {
  ControlRefusal refusal = set_fraction();
  PoolId scope;
  const auto enter = [&](PoolId pool) {
    if (refusal.empty() && scope != PoolId{}) refusal = model_->apply(control::PoolEnd{scope});
    if (refusal.empty() && pool != PoolId{}) refusal = model_->apply(control::PoolBegin{pool});
    scope = pool;
  };
  for (const InitialRequest& request : initial_requests(trace_.initial.heap, conditions_.start)) {
    if (request.pool != scope) enter(request.pool);
    if (!refusal.empty()) return refusal;
    AllocateOutcome outcome = model_->allocate(
        {.id = request.allocation, .size = request.size, .stream = request.stream});
    if (auto* oom = std::get_if<OutOfMemory>(&outcome)) {
      failed_[request.allocation] = 1;
      start_ooms_.push_back(std::move(*oom));
    }
  }
  enter(PoolId{});
  return refusal;
}

void Session::free_pending() {
  for (const InitialState::Pending& pending : trace_.initial.pending) {
    if (has_failed(pending.allocation)) continue;
    model_->record_stream(pending.allocation, pending.stream);
    model_->deallocate(pending.allocation);
  }
}

EventResult Session::step() {
  const Event& event = trace_.events[position_++];
  switch (event.kind) {
    case EventKind::allocate:
      return allocate(event);
    case EventKind::deallocate:
      return deallocate(event);
    case EventKind::record_stream:
      return record_stream(event);
    case EventKind::complete_events:
      device_.complete_events(event.stream);
      break;
    case EventKind::complete_all:
      device_.complete_all_events();
      break;
    case EventKind::control:
      return control(event);
    case EventKind::snapshot:
    case EventKind::cache_info:
    case EventKind::mark:
    case EventKind::step:
      break;
  }
  return {};
}

EventResult Session::allocate(const Event& event) {
  // Repeats of a failed request share one number: if it is served here, once is enough.
  if (event.failed_in_recording && model_->is_live(event.allocation)) {
    return {.kind = EventResult::Kind::skipped, .placement = {}};
  }
  AllocateOutcome outcome = model_->allocate({.id = event.allocation,
                                              .size = event.size,
                                              .stream = event.stream,
                                              .size_is_rounded = event.failed_in_recording});
  if (const auto* placement = std::get_if<Placement>(&outcome)) {
    return {.kind = EventResult::Kind::placed, .placement = *placement};
  }
  failed_[event.allocation] = 1;
  last_oom_ = std::move(std::get<OutOfMemory>(outcome));
  return {.kind = EventResult::Kind::out_of_memory, .placement = {}};
}

EventResult Session::deallocate(const Event& event) {
  if (has_failed(event.allocation)) return {.kind = EventResult::Kind::skipped, .placement = {}};
  model_->deallocate(event.allocation);
  return {};
}

EventResult Session::record_stream(const Event& event) {
  if (has_failed(event.allocation)) return {.kind = EventResult::Kind::skipped, .placement = {}};
  model_->record_stream(event.allocation, event.stream);
  return {};
}

EventResult Session::control(const Event& event) {
  const Control& call = trace_.controls[event.detail];
  if (const auto* erase = std::get_if<control::EraseStream>(&call)) {
    if (has_failed(erase->allocation)) return {.kind = EventResult::Kind::skipped, .placement = {}};
  }
  if (std::holds_alternative<control::ResetPeak>(call)) {
    before_resets_.peak = highest(before_resets_.peak, peak_usage(model_->statistics()));
  }
  if (std::holds_alternative<control::ResetAccumulated>(call)) {
    add_counts(before_resets_, model_->statistics());
  }
  if (std::holds_alternative<control::EmptyCache>(call)) ++before_resets_.empty_caches;
  last_refusal_ = model_->apply(call);
  if (last_refusal_.empty()) return {};
  return {.kind = EventResult::Kind::refused, .placement = {}};
}

RunTotals Session::totals() const {
  RunTotals totals = before_resets_;
  totals.peak = highest(totals.peak, peak_usage(model_->statistics()));
  add_counts(totals, model_->statistics());
  return totals;
}

}  // namespace fragcast
