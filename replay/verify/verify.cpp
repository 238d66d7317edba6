#include "replay/verify/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <variant>

#include "replay/engine/session.hpp"
#include "replay/verify/explain_divergence.hpp"
#include "sim/observe/event_log.hpp"

namespace fragcast {
namespace {

bool is_segment_event(LogAction action) {
  switch (action) {
    case LogAction::segment_alloc:
    case LogAction::segment_free:
    case LogAction::segment_map:
    case LogAction::segment_unmap:
      return true;
    case LogAction::alloc:
    case LogAction::free_requested:
    case LogAction::free_completed:
    case LogAction::oom:
    case LogAction::snapshot:
      return false;
  }
  return false;
}

bool same(const LogEntry& a, const LogEntry& b) {
  return a.action == b.action && a.address == b.address && a.size == b.size && a.stream == b.stream;
}

Bytes change_of(const LogEntry& entry) {
  switch (entry.action) {
    case LogAction::segment_alloc:
    case LogAction::segment_map:
      return entry.size;
    case LogAction::segment_free:
    case LogAction::segment_unmap:
      return -entry.size;
    case LogAction::alloc:
    case LogAction::free_requested:
    case LogAction::free_completed:
    case LogAction::oom:
    case LogAction::snapshot:
      return {};
  }
  return {};
}

/// Whether recorded segment events up to this one's entry are its doing. What opens and closes
/// scopes, or completes events, only stands beside a request.
bool moves_memory(const Trace& trace, const Event& event) {
  switch (event.kind) {
    case EventKind::allocate:
    case EventKind::deallocate:
      return true;
    case EventKind::control: {
      const Control& call = trace.controls[event.detail];
      return std::holds_alternative<control::EmptyCache>(call) ||
             std::holds_alternative<control::PoolEmpty>(call);
    }
    case EventKind::record_stream:
    case EventKind::complete_events:
    case EventKind::complete_all:
    case EventKind::snapshot:
    case EventKind::cache_info:
    case EventKind::mark:
    case EventKind::step:
      return false;
  }
  return false;
}

class Comparison {
 public:
  Comparison(const Normalised& recording, Session& session)
      : recording_{recording}, session_{session}, reserved_{recording.recorded.initial_reserved} {
    session_.model().attach_log(&log_);
    result_.segment_events.of = recording.recorded.segment_events.size();
  }

  Verification run() {
    while (!session_.at_end()) step();
    session_.model().attach_log(nullptr);
    return std::move(result_);
  }

 private:
  void step();
  void compare_segment_events(const Event& event);
  void compare_outcome(const Event& event, const EventResult& result);
  void compare_reserved();
  void diverged(const Event& event, std::string what);

  const Normalised& recording_;
  Session& session_;
  EventLog log_;
  Verification result_;
  /// What the recording has come to: its next segment event, and what it holds.
  std::size_t next_recorded_ = 0;
  Bytes reserved_;
  std::size_t requests_ = 0;
};

void Comparison::step() {
  const Event& event = session_.next();
  log_.clear();
  const EventResult result = session_.step();
  if (event.kind == EventKind::allocate || event.kind == EventKind::deallocate) ++requests_;
  compare_segment_events(event);
  if (event.kind == EventKind::allocate) compare_outcome(event, result);
  if (result.kind == EventResult::Kind::refused) {
    diverged(event, fmt::format("the model refused a call: {}", session_.last_refusal()));
  }
  compare_reserved();
}

/// What the model did for this event against what was recorded since the event before: in order,
/// each recorded one found at most once.
void Comparison::compare_segment_events(const Event& event) {
  const auto& recorded = recording_.recorded.segment_events;
  const bool moves = moves_memory(recording_.trace, event);
  std::size_t until = next_recorded_;
  while (moves && until < recorded.size() && recorded[until].entry <= event.source) ++until;
  std::size_t next = next_recorded_;
  for (const LogEntry& done : log_) {
    if (!is_segment_event(done.action)) continue;
    std::size_t found = next;
    while (found < until && !same(recorded[found].what, done)) ++found;
    if (found != next || found == until) {
      diverged(event,
               next == until ? describe_unrecorded(done)
                             : describe_difference(recorded[next].what, done));
    }
    if (found == until) {
      ++result_.unrecorded;
    } else {
      ++result_.segment_events.equal;
      next = found + 1;
    }
  }
  if (next < until) diverged(event, describe_missing(recorded[next].what));
  for (std::size_t i = next_recorded_; i < until; ++i) reserved_ += change_of(recorded[i].what);
  next_recorded_ = until;
}

void Comparison::compare_outcome(const Event& event, const EventResult& result) {
  const bool placed = result.kind == EventResult::Kind::placed;
  if (event.failed_in_recording) {
    ++result_.failures.of;
    if (!placed) {
      ++result_.failures.equal;
    } else {
      diverged(event, "the request failed, and the model served it");
    }
    return;
  }
  ++result_.addresses.of;
  const Address recorded = recording_.recorded.addresses[event.allocation.index()];
  if (placed && result.placement.address == recorded) {
    ++result_.addresses.equal;
  } else if (placed) {
    diverged(event,
             fmt::format("the recorded address is {:#x}, the model's {:#x}",
                         recorded.value(),
                         result.placement.address.value()));
  } else {
    diverged(event, "the request was served, and the model had no memory for it");
  }
}

void Comparison::compare_reserved() {
  const Bytes held{session_.model().statistics().reserved_bytes.all.current};
  const Bytes error{std::abs((held - reserved_).count())};
  result_.reserved_max_error = std::max(result_.reserved_max_error, error);
}

void Comparison::diverged(const Event& event, std::string what) {
  if (result_.first) return;
  result_.first = Divergence{.event = session_.position() - 1,
                             .entry = event.source,
                             .request = requests_,
                             .what = fmt::format("{}: {}", describe(event), what),
                             .why = likely_reason(recording_, event)};
}

}  // namespace

double Score::percent() const {
  return of == 0 ? 100.0 : 100.0 * static_cast<double>(equal) / static_cast<double>(of);
}

double Verification::percent() const {
  if (!refusal.empty()) return 0.0;
  const Score segments{.equal = segment_events.equal, .of = segment_events.of + unrecorded};
  return std::min({segments.percent(), addresses.percent(), failures.percent()});
}

Verification verify(const Normalised& recording, const ModelEntry& model) {
  RunSpec spec;
  spec.name = "recorded";
  spec.model = &model;
  spec.start = Start::warm;
  Session session{recording.trace, resolve_conditions(recording.trace, spec)};
  if (!session.refusal().empty()) {
    Verification refused;
    refused.refusal = session.refusal();
    return refused;
  }
  return Comparison{recording, session}.run();
}

}  // namespace fragcast
