#include "replay/engine/replay.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "replay/engine/parallel.hpp"
#include "replay/engine/session.hpp"

namespace fragcast {
namespace {

/// Follows reserved memory and remembers where it was first highest.
class PeakFinder {
 public:
  explicit PeakFinder(std::int64_t reserved) : highest_{reserved} {}

  /// Whether it is a new peak.
  bool look(std::int64_t reserved, std::size_t position) {
    if (reserved <= highest_) return false;
    highest_ = reserved;
    position_ = position;
    return true;
  }
  /// How many events had been carried out then.
  [[nodiscard]] std::size_t position() const { return position_; }

 private:
  std::int64_t highest_;
  std::size_t position_ = 0;
};

FailedRequest failure_of(const OutOfMemory& oom, const Event* event, std::size_t position) {
  return {.event = event != nullptr ? std::optional{EventIndex{position - 1}} : std::nullopt,
          .requested = oom.requested,
          .tried = oom.tried,
          .device_free = oom.device_free,
          .failed_in_recording = event != nullptr && event->failed_in_recording,
          .message = oom.message};
}

/// After so many events somebody may look at a replay and end it.
constexpr std::size_t often = 1024;

/// One replay on its way to becoming a Run.
class Measurement {
 public:
  Measurement(Session& session, Run& run, KeepSeries series)
      : session_{session},
        run_{run},
        series_{series},
        statistics_{session.model().statistics()},
        peak_{statistics_.reserved_bytes.all.current} {
    if (series == KeepSeries::yes) run.series.reserve(session.trace().events.size());
    for (const OutOfMemory& oom : session.start_ooms()) {
      run.failures.push_back(failure_of(oom, nullptr, 0));
    }
  }

  /// Carries out what is left of the trace; false if that was enough for `enough` before the end.
  bool play(OnOom on_oom, const Enough& enough) {
    if (on_oom == OnOom::stop && !run_.failures.empty()) return true;
    while (!session_.at_end()) {
      const Event& event = session_.next();
      const EventResult result = session_.step();
      const bool higher = peak_.look(statistics_.reserved_bytes.all.current, session_.position());
      if (enough && (higher || session_.position() % often == 0) && enough(session_)) return false;
      if (series_ == KeepSeries::yes) run_.series.push_back(current_usage(statistics_));
      if (event.failed_in_recording || result.kind > EventResult::Kind::placed) {
        note(event, result);
        const bool failed = result.kind == EventResult::Kind::out_of_memory;
        if (failed && on_oom == OnOom::stop && !event.failed_in_recording) return true;
      }
    }
    return true;
  }

  /// Fills in what is known once the last event was carried out. Returns the position of the peak.
  std::size_t conclude() {
    run_.peak = session_.totals().peak;
    run_.final = current_usage(statistics_);
    run_.final_inactive_split = Bytes{statistics_.inactive_split_bytes.all.current};
    run_.counts = counts_of(session_);
    run_.events = session_.position();
    if (!run_.failures.empty()) {
      run_.outcome = RunOutcome::out_of_memory;
      run_.reason = run_.failures.front().message;
    }
    if (peak_.position() > 0) run_.at_peak_reserved.event = EventIndex{peak_.position() - 1};
    return peak_.position();
  }

 private:
  void note(const Event& event, const EventResult& result) {
    switch (result.kind) {
      case EventResult::Kind::out_of_memory:
        run_.failures.push_back(failure_of(session_.last_oom(), &event, session_.position()));
        break;
      case EventResult::Kind::refused:
        run_.refused_calls.push_back(
            {.event = EventIndex{session_.position() - 1}, .reason = session_.last_refusal()});
        break;
      case EventResult::Kind::placed:
        ++run_.recorded_failures_served;
        break;
      case EventResult::Kind::done:
      case EventResult::Kind::skipped:
        break;
    }
  }

  Session& session_;
  Run& run_;
  KeepSeries series_;
  const Statistics& statistics_;
  PeakFinder peak_;
};

}  // namespace

RunCounts counts_of(const Session& session) {
  const RunTotals totals = session.totals();
  const DeviceCounters& device = session.device().counters();
  return {
      .device_allocs = totals.device_allocs,
      .device_frees = totals.device_frees,
      .segment_allocs = device.segments_allocated,
      .segment_frees = device.segments_freed,
      .maps = totals.device_allocs - device.segments_allocated,
      .unmaps = totals.device_frees - device.segments_freed,
      .pages_mapped = device.maps,
      .pages_unmapped = device.unmaps,
      .gigabyte_pages_mapped = device.gigabyte_maps,
      .gigabyte_pages_unmapped = device.gigabyte_unmaps,
      .pages_created = device.pages_created,
      .pages_destroyed = device.pages_destroyed,
      .ranges_reserved = device.ranges_reserved,
      .ranges_released = device.ranges_released,
      .segment_bytes_allocated = device.segment_bytes_allocated,
      .segment_bytes_freed = device.segment_bytes_freed,
      .page_bytes_created = device.page_bytes_created,
      .page_bytes_destroyed = device.page_bytes_destroyed,
      .bytes_mapped = device.bytes_mapped,
      .bytes_unmapped = device.bytes_unmapped,
      .syncs = device.device_syncs + device.stream_syncs,
      .event_syncs = device.event_syncs,
      .events_recorded = device.events_recorded,
      .event_queries = device.event_queries,
      .alloc_retries = totals.alloc_retries,
      .ooms = totals.ooms,
      .oom_rejections = totals.oom_rejections,
      .empty_caches = totals.empty_caches,
  };
}

bool fails_anew(const Run& run) {
  return std::any_of(run.failures.begin(), run.failures.end(), [](const FailedRequest& failure) {
    return !failure.failed_in_recording;
  });
}

namespace {

/// Replays as far as it goes. Returns how many events had been carried out at the peak; nothing if
/// `enough` ended the run.
std::optional<std::size_t> play(
    const Trace& trace, const RunSpec& spec, KeepSeries series, const Enough& enough, Run& run) {
  run.name = spec.name;
  run.conditions = resolve_conditions(trace, spec);
  Session session{trace, run.conditions};
  run.warnings = session.warnings();
  if (!session.refusal().empty()) {
    run.outcome = RunOutcome::refused;
    run.reason = session.refusal();
    return 0;
  }
  Measurement measurement{session, run, series};
  if (!measurement.play(spec.on_oom, enough)) return std::nullopt;
  return measurement.conclude();
}

}  // namespace

Run replay(const Trace& trace, const RunSpec& spec, KeepSeries series) {
  Run run;
  const std::size_t peak_position = *play(trace, spec, series, {}, run);
  if (run.outcome == RunOutcome::refused) return run;
  run.at_peak_reserved.heap = layout_at(trace, spec, peak_position);
  run.at_peak_reserved.gap = measure_fragmentation(run.at_peak_reserved.heap);
  return run;
}

std::optional<Run> replay_unless(const Trace& trace, const RunSpec& spec, const Enough& enough) {
  Run run;
  if (!play(trace, spec, KeepSeries::no, enough, run)) return std::nullopt;
  return run;
}

std::vector<Run> replay_all(const Trace& trace,
                            std::span<const RunSpec> specs,
                            KeepSeries series,
                            unsigned threads) {
  return parallel_map(
      specs.size(), threads, [&](std::size_t i) { return replay(trace, specs[i], series); });
}

Layout layout_at(const Trace& trace, const RunSpec& spec, std::size_t position) {
  Session session{trace, resolve_conditions(trace, spec)};
  if (!session.refusal().empty()) return {};
  session.run_to(position);
  return session.model().layout();
}

}  // namespace fragcast
