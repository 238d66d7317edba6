#include "replay/verify/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>
#include <variant>
#include <vector>

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
  /// What was recorded for the present event, as far as it is not matched.
  std::vector<const LogEntry*> waiting_;
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

/// The first of the recorded events waiting to be matched that is `done`; `size()` if none is.
std::size_t find_in(const std::vector<const LogEntry*>& waiting, const LogEntry& done) {
  const auto found = std::find_if(
      waiting.begin(), waiting.end(), [&](const LogEntry* entry) { return same(*entry, done); });
  return static_cast<std::size_t>(found - waiting.begin());
}

/// Whether the event at `index` may come before those that wait in front of it: in which order a
/// flush goes through several private pools is a hash map's upstream, and says nothing.
bool may_overtake(const std::vector<const LogEntry*>& waiting, std::size_t index) {
  const PoolId pool = waiting[index]->pool;
  return std::all_of(waiting.begin(),
                     waiting.begin() + static_cast<std::ptrdiff_t>(index),
                     [&](const LogEntry* entry) {
                       return pool != PoolId{} && entry->pool != PoolId{} && entry->pool != pool;
                     });
}

/// What the model did for this event against what was recorded for it: in order, each recorded one
/// matched at most once.
void Comparison::compare_segment_events(const Event& event) {
  const auto& recorded = recording_.recorded.segment_events;
  waiting_.clear();
  for (const bool moves = moves_memory(recording_.trace, event);
       moves && next_recorded_ < recorded.size() && recorded[next_recorded_].entry <= event.source;
       ++next_recorded_) {
    waiting_.push_back(&recorded[next_recorded_].what);
    reserved_ += change_of(*waiting_.back());
  }
  for (const LogEntry& done : log_) {
    if (!is_segment_event(done.action)) continue;
    const std::size_t found = find_in(waiting_, done);
    if (found == waiting_.size() || !may_overtake(waiting_, found)) {
      diverged(event,
               waiting_.empty() ? describe_unrecorded(done)
                                : describe_difference(*waiting_.front(), done));
    }
    if (found == waiting_.size()) {
      ++result_.unrecorded;
      continue;
    }
    ++result_.segment_events.equal;
    const auto first = waiting_.begin();
    const auto matched = first + static_cast<std::ptrdiff_t>(found);
    // What was recorded before it and did not happen is missed for good.
    waiting_.erase(may_overtake(waiting_, found) ? matched : first, matched + 1);
  }
  if (!waiting_.empty()) diverged(event, describe_missing(*waiting_.front()));
}

void Comparison::compare_outcome(const Event& event, const EventResult& result) {
  const bool placed = result.kind == EventResult::Kind::placed;
  if (event.failed_in_recording) {
    ++result_.failures.of;
    if (result.kind == EventResult::Kind::out_of_memory) {
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
  spec.release = recording.conditions.release_of(model);
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
