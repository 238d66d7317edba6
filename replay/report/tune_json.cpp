#include "replay/report/tune_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string_view>

#include "replay/search/tune_verdict.hpp"

namespace fragcast {
namespace {

// Keeps keys in the order in which they are written here.
using Json = nlohmann::ordered_json;

std::string_view name_of(Objective objective) {
  switch (objective) {
    case Objective::memory:
      return "memory";
    case Objective::time:
      return "time";
    case Objective::balanced:
      return "balanced";
  }
  return {};
}

std::string_view name_of(PeakUnit unit) {
  switch (unit) {
    case PeakUnit::bytes:
      return "bytes";
    case PeakUnit::share_of_now:
      return "share_of_now";
  }
  return {};
}

std::string_view name_of(AgainstNow against) {
  switch (against) {
    case AgainstNow::better:
      return "better";
    case AgainstNow::no_worse:
      return "no_worse";
    case AgainstNow::worse:
      return "worse";
  }
  return {};
}

/// Microseconds with three decimals: the sums' last digits say nothing.
double microseconds_of(Microseconds time) { return std::round(time.count() * 1000.0) / 1000.0; }

Json json_of(const CostEstimate& cost) {
  return {{"low_us", microseconds_of(cost.low)},
          {"mid_us", microseconds_of(cost.mid)},
          {"high_us", microseconds_of(cost.high)},
          {"waits", cost.waits},
          {"idle_waits_us", microseconds_of(cost.idle_waits)}};
}

Json json_of(const TunedRun& run) {
  return {{"failures", run.failures},
          {"peak_reserved", run.peak_reserved.count()},
          {"peak_allocated", run.peak_allocated.count()},
          {"device_allocs", run.device_allocs},
          {"device_frees", run.device_frees},
          {"syncs", run.syncs},
          {"alloc_retries", run.retries},
          {"cost", json_of(run.cost)}};
}

Json json_of(const TunedPoint& point) {
  Json runs = Json::array();
  for (const TunedRun& run : point.runs) runs.push_back(json_of(run));
  return {{"settings", point.settings},
          {"empty_cache", point.empty_cache},
          {"failures", point.standing.failures},
          {"cost", json_of(point.standing.cost)},
          {"equals", point.equals},
          {"runs", std::move(runs)}};
}

Json json_of(const std::optional<TunedPoint>& point) {
  return point ? json_of(*point) : Json(nullptr);
}

Json traces_of(const Tuning& tuning) {
  Json traces = Json::array();
  for (std::size_t i = 0; i < tuning.subjects.size(); ++i) {
    const Subject& subject = *tuning.subjects[i];
    const std::optional<Bytes>& capacity = tuning.capacity[i];
    traces.push_back({{"file", subject.source.file},
                      {"device", subject.device},
                      {"settings", subject.trace().conditions.settings.value_or("")},
                      {"capacity", capacity ? Json(capacity->count()) : Json(nullptr)},
                      {"live_peak", tuning.live_peak[i].count()}});
  }
  return traces;
}

Json advised_of(const Tuning& tuning) {
  Json list = Json::array();
  for (const AdvisedSetting& advised : tuning.advised) {
    const auto& point = advised.point;
    list.push_back(
        {{"name", advised.name},
         {"users_own", advised.users_own},
         {"refusal", advised.refusal.empty() ? Json(nullptr) : Json(advised.refusal)},
         {"against_now", point ? Json(name_of(against_now(tuning, *point))) : Json(nullptr)},
         {"point", json_of(point)}});
  }
  return list;
}

Json recommendation_of(const Tuning& tuning) {
  if (!tuning.recommended) return nullptr;
  Json robustness = Json::array();
  for (const Robustness& one : tuning.robustness) {
    robustness.push_back(
        {{"id", one.id}, {"now", json_of(one.now)}, {"recommended", json_of(one.recommended)}});
  }
  return {{"line", paste_line(tuning)},
          {"point", json_of(*tuning.recommended)},
          {"robustness", std::move(robustness)}};
}

}  // namespace

void write_json(const Tuning& tuning, std::ostream& output) {
  Json front = Json::array();
  for (const TunedPoint& point : tuning.front) front.push_back(json_of(point));
  const Json document{{"schema", "fragcast.tuning"},
                      {"version", 1},
                      {"model", tuning.model->name},
                      {"release", tuning.release->name},
                      {"variable", tuning.model->variable},
                      {"objective", name_of(tuning.objective)},
                      {"peaks_compared_by", name_of(tuning.peaks)},
                      {"prices",
                       {{"profile", tuning.pricing.profile},
                        {"overridden", tuning.pricing.overridden},
                        {"guess", tuning.pricing.is_guess()}}},
                      {"search",
                       {{"points", tuning.tried},
                        {"abandoned", tuning.abandoned},
                        {"rounds", tuning.rounds},
                        {"cut_short", tuning.cut_short}}},
                      {"traces", traces_of(tuning)},
                      {"recorded", json_of(tuning.recorded)},
                      {"now", json_of(tuning.now)},
                      {"front", std::move(front)},
                      {"recommendation", recommendation_of(tuning)},
                      {"advised", advised_of(tuning)},
                      {"verdict", tuning.verdict}};
  output << document.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace fragcast
