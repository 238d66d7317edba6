#include "replay/report/comparison_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <variant>

#include "replay/trace/place.hpp"

namespace fragcast {
namespace {

// Keeps keys in the order in which they are written here.
using Json = nlohmann::ordered_json;

std::string_view name_of(SourceKind kind) {
  switch (kind) {
    case SourceKind::snapshot:
      return "snapshot";
    case SourceKind::call_script:
      return "calls";
  }
  return {};
}

std::string_view name_of(Start start) {
  switch (start) {
    case Start::empty:
      return "empty";
    case Start::warm:
      return "warm";
    case Start::cold:
      return "cold";
    case Start::cold_largest_first:
      return "cold_largest_first";
  }
  return {};
}

std::string_view name_of(DeviceAddresses addresses) {
  switch (addresses) {
    case DeviceAddresses::simulated:
      return "simulated";
    case DeviceAddresses::recorded:
      return "recorded";
  }
  return {};
}

std::string_view name_of(RunOutcome outcome) {
  switch (outcome) {
    case RunOutcome::completed:
      return "completed";
    case RunOutcome::out_of_memory:
      return "out_of_memory";
    case RunOutcome::refused:
      return "refused";
  }
  return {};
}

Json json_of(Bytes size) { return size.count(); }
Json json_of(double number) { return number; }
Json json_of(const std::string& text) { return text; }

template <class T>
Json json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : Json(nullptr);
}

Json null_if_empty(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json json_of(const std::vector<Note>& notes) {
  Json list = Json::array();
  for (const Note& note : notes) list.push_back({{"id", note.id}, {"text", note.text}});
  return list;
}

Json json_of(const AnomalyCounts& anomalies) {
  Json counts = Json::object();
  anomalies.for_each([&](Anomaly anomaly, std::uint64_t count) {
    counts[std::string{describe(anomaly).id}] = count;
  });
  return counts;
}

Json json_of(const SourceInfo& source) {
  return {{"layer", source.layer},
          {"protocol", source.protocol},
          {"wrapping", source.wrapping},
          {"bytes", source.bytes}};
}

Json initial_of(const Layout& heap) {
  std::int64_t live = 0;
  Bytes requested;
  Bytes reserved;
  for (const SegmentPicture& segment : heap.segments) {
    reserved += segment.size;
    for (const BlockPicture& block : segment.blocks) {
      if (!block.allocation) continue;
      ++live;
      requested += block.requested;
    }
  }
  return {{"live_blocks", live}, {"requested", requested.count()}, {"reserved", reserved.count()}};
}

Json recorded_of(const Subject& subject) {
  if (!subject.is_recording()) return nullptr;
  const RecordedHistory& recorded = subject.history.recorded;
  return {{"peak_reserved", recorded.peak_reserved.count()},
          {"final_reserved", recorded.final_reserved.count()},
          {"device_allocs", recorded.device_allocs},
          {"device_frees", recorded.device_frees}};
}

/// The `empty_cache` calls of the trace: where, of which pools and, of a recording, what each gave
/// back.
Json empty_cache_calls_of(const Subject& subject) {
  const Trace& trace = subject.trace();
  Json calls = Json::array();
  std::uint64_t requests = 0;
  auto recorded = subject.history.recorded.empty_cache_calls.begin();
  const auto recorded_end = subject.history.recorded.empty_cache_calls.end();
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    if (event.kind == EventKind::allocate || event.kind == EventKind::deallocate) ++requests;
    if (event.kind != EventKind::control) continue;
    const Control& call = trace.controls[event.detail];
    const bool of_one_pool = std::holds_alternative<control::PoolEmpty>(call);
    if (!of_one_pool && !std::holds_alternative<control::EmptyCache>(call)) continue;
    while (recorded != recorded_end && recorded->event < i) ++recorded;
    const bool is_known = recorded != recorded_end && recorded->event == i;
    // Before the first request there is none to name.
    const Place at =
        requests > 0 ? Place{place::AtRequest{requests}} : Place{place::AtEvent{event.source}};
    calls.push_back({{"at", to_text(at)},
                     {"of", of_one_pool ? "pool" : "all"},
                     {"released", is_known ? json_of(recorded->released) : Json(nullptr)}});
  }
  return calls;
}

std::uint64_t count_allocations(const Trace& trace) {
  std::uint64_t count = 0;
  for (const Event& event : trace.events) {
    if (event.kind == EventKind::allocate && !event.failed_in_recording) ++count;
  }
  return count;
}

Json json_of(const ModelRelease* release) {
  return release != nullptr ? Json(release->name) : Json(nullptr);
}

Json trace_of(const Subject& subject) {
  const Trace& trace = subject.trace();
  std::vector<Note> notes = subject.history.conditions.evidence;
  notes.insert(notes.end(), subject.history.notes.begin(), subject.history.notes.end());
  notes.insert(notes.end(), subject.notes.begin(), subject.notes.end());
  return {{"file", subject.source.file},
          {"format", name_of(subject.kind)},
          {"source", json_of(subject.source)},
          {"device", subject.device},
          {"model", null_if_empty(subject.history.conditions.model)},
          {"release", json_of(subject.history.conditions.release)},
          {"settings", trace.conditions.settings.value_or("")},
          {"device_memory", json_of(trace.conditions.device_memory)},
          {"fraction", json_of(trace.conditions.fraction)},
          {"soc", json_of(trace.conditions.soc)},
          {"events", subject.events},
          {"allocations", count_allocations(trace)},
          {"initial", initial_of(trace.initial.heap)},
          {"recorded", recorded_of(subject)},
          {"empty_cache_calls", empty_cache_calls_of(subject)},
          {"anomalies", json_of(subject.history.anomalies)},
          {"notes", json_of(notes)}};
}

Json json_of(const Score& score) { return Json::array({score.equal, score.of}); }

Json json_of(const Divergence& divergence) {
  return {{"event", divergence.entry},
          {"request", divergence.request},
          {"what", divergence.what},
          {"why", divergence.why}};
}

Json json_of(const Verification& fidelity) {
  return {{"segment_events", json_of(fidelity.segment_events)},
          {"unrecorded_segment_events", fidelity.unrecorded},
          {"addresses", json_of(fidelity.addresses)},
          {"failures", json_of(fidelity.failures)},
          {"reserved_max_error", fidelity.reserved_max_error.count()},
          {"refusal", null_if_empty(fidelity.refusal)},
          {"divergence", fidelity.first ? json_of(*fidelity.first) : Json(nullptr)}};
}

Json json_of(const Usage& usage) {
  return {{"requested", usage.requested.count()},
          {"allocated", usage.allocated.count()},
          {"active", usage.active.count()},
          {"reserved", usage.reserved.count()}};
}

Json json_of(const RunCounts& counts) {
  return {{"device_allocs", counts.device_allocs},
          {"device_frees", counts.device_frees},
          {"segment_allocs", counts.segment_allocs},
          {"segment_frees", counts.segment_frees},
          {"maps", counts.maps},
          {"unmaps", counts.unmaps},
          {"pages_mapped", counts.pages_mapped},
          {"pages_unmapped", counts.pages_unmapped},
          {"gigabyte_pages_mapped", counts.gigabyte_pages_mapped},
          {"gigabyte_pages_unmapped", counts.gigabyte_pages_unmapped},
          {"pages_created", counts.pages_created},
          {"pages_destroyed", counts.pages_destroyed},
          {"ranges_reserved", counts.ranges_reserved},
          {"ranges_released", counts.ranges_released},
          {"segment_bytes_allocated", counts.segment_bytes_allocated.count()},
          {"segment_bytes_freed", counts.segment_bytes_freed.count()},
          {"page_bytes_created", counts.page_bytes_created.count()},
          {"page_bytes_destroyed", counts.page_bytes_destroyed.count()},
          {"bytes_mapped", counts.bytes_mapped.count()},
          {"bytes_unmapped", counts.bytes_unmapped.count()},
          {"syncs", counts.syncs},
          {"event_syncs", counts.event_syncs},
          {"events_recorded", counts.events_recorded},
          {"event_queries", counts.event_queries},
          {"alloc_retries", counts.alloc_retries},
          {"ooms", counts.ooms},
          {"oom_rejections", counts.oom_rejections},
          {"empty_caches", counts.empty_caches}};
}

/// Microseconds with three decimals: the sums' last digits say nothing.
double microseconds_of(Microseconds time) { return std::round(time.count() * 1000.0) / 1000.0; }

/// One row of a comparison.
class RunWriter {
 public:
  RunWriter(const Comparison& comparison, const ComparedRun& compared)
      : comparison_{comparison}, compared_{compared}, run_{compared.run} {}

  [[nodiscard]] Json write() const {
    Json json = conditions();
    json["outcome"] = name_of(run_.outcome);
    json["reason"] = null_if_empty(run_.reason);
    json["warnings"] = run_.warnings;
    // A run that was refused came to nothing: no amount is better than a false 0.
    const bool refused = compared_.refused();
    json["peak"] = refused ? Json(nullptr) : json_of(run_.peak);
    json["final"] = refused ? Json(nullptr) : final_usage();
    json["at_peak_reserved"] = refused ? Json(nullptr) : at_peak_reserved();
    json["counts"] = refused ? Json(nullptr) : json_of(run_.counts);
    json["ooms"] = ooms();
    json["recorded_ooms_served"] = run_.recorded_failures_served;
    json["refused_calls"] = refused_calls();
    json["difference"] = difference();
    json["pins"] = pins();
    json["cost"] = cost();
    json["diagnostics"] = json_of(compared_.diagnostics);
    return json;
  }

 private:
  /// Chips are the NPU's; null for other devices.
  [[nodiscard]] Json soc() const {
    if (run_.conditions.model->vendor != Vendor::npu) return nullptr;
    return fragcast::name_of(run_.conditions.soc);
  }
  [[nodiscard]] Json conditions() const {
    const RunConditions& conditions = run_.conditions;
    return {{"name", run_.name},
            {"also", compared_.also},
            {"model", conditions.model->name},
            {"release", conditions.release().name},
            {"settings", conditions.settings},
            {"device_memory", json_of(conditions.device_memory)},
            {"others", conditions.others.count()},
            {"fraction", json_of(conditions.fraction)},
            {"soc", soc()},
            {"empty_cache", compared_.changed.empty_cache},
            {"start", name_of(conditions.start)},
            {"addresses", name_of(conditions.addresses)}};
  }

  /// The index of an event in the device's history.
  [[nodiscard]] Json source_of(std::optional<EventIndex> event) const {
    if (!event) return nullptr;
    return comparison_.trace_of(compared_).events[event->index()].source;
  }

  [[nodiscard]] Json final_usage() const {
    Json json = json_of(run_.final);
    json["inactive_split"] = run_.final_inactive_split.count();
    return json;
  }

  [[nodiscard]] Json at_peak_reserved() const {
    const Fragmentation& gap = run_.at_peak_reserved.gap;
    return {{"event", source_of(run_.at_peak_reserved.event)},
            {"requested", gap.requested.count()},
            {"rounding", gap.rounding.count()},
            {"pending", gap.pending.count()},
            {"pinned", gap.pinned.count()},
            {"releasable", gap.releasable.count()},
            {"largest_free", gap.largest_free.count()}};
  }

  [[nodiscard]] Json ooms() const {
    Json list = Json::array();
    for (const FailedRequest& failure : run_.failures) {
      list.push_back({{"event", source_of(failure.event)},
                      {"requested", failure.requested.count()},
                      {"tried", failure.tried.count()},
                      {"free", failure.device_free.count()},
                      {"message", failure.message},
                      {"failed_in_recording", failure.failed_in_recording}});
    }
    return list;
  }

  [[nodiscard]] Json refused_calls() const {
    Json list = Json::array();
    for (const RefusedCall& call : run_.refused_calls) {
      list.push_back({{"event", source_of(call.event)}, {"reason", call.reason}});
    }
    return list;
  }

  [[nodiscard]] Json difference() const {
    if (!compared_.difference) return nullptr;
    const auto& [reference, peak_reserved] = *compared_.difference;
    return {{"reference", reference},
            {"reference_name", comparison_.runs[reference].run.name},
            {"peak_reserved", peak_reserved.count()}};
  }

  [[nodiscard]] Json pins() const {
    const CallStacks& stacks = comparison_.subject->trace().stacks;
    Json list = Json::array();
    for (const Pin& pin : compared_.pins) {
      list.push_back({{"site", pin.site ? Json(describe(stacks, *pin.site)) : Json(nullptr)},
                      {"segments", pin.segments},
                      {"held", pin.held.count()},
                      {"free", pin.free.count()}});
    }
    return list;
  }

  [[nodiscard]] Json cost() const {
    if (!compared_.cost) return nullptr;
    const CostEstimate& cost = *compared_.cost;
    const Pricing& pricing = comparison_.pricing;
    return {{"profile", pricing.profile},
            {"overridden", pricing.overridden},
            {"guess", pricing.is_guess()},
            {"low_us", microseconds_of(cost.low)},
            {"mid_us", microseconds_of(cost.mid)},
            {"high_us", microseconds_of(cost.high)},
            {"waits", cost.waits},
            {"idle_waits_us", microseconds_of(cost.idle_waits)}};
  }

  const Comparison& comparison_;
  const ComparedRun& compared_;
  const Run& run_;
};

Json json_of(const Comparison& comparison) {
  Json runs = Json::array();
  for (const ComparedRun& run : comparison.runs) runs.push_back(RunWriter{comparison, run}.write());
  return {{"trace", trace_of(*comparison.subject)},
          {"fidelity", comparison.fidelity ? json_of(*comparison.fidelity) : Json(nullptr)},
          {"initially_cached", comparison.initially_cached.count()},
          {"verdict", comparison.verdict},
          {"runs", std::move(runs)}};
}

}  // namespace

void write_json(std::span<const Comparison> comparisons, std::ostream& output) {
  Json results = Json::array();
  for (const Comparison& comparison : comparisons) results.push_back(json_of(comparison));
  const Json document{
      {"schema", "fragcast.comparison"}, {"version", 1}, {"results", std::move(results)}};
  output << document.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace fragcast
