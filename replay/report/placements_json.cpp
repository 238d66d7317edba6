#include "replay/report/placements_json.hpp"

#include <nlohmann/json.hpp>

#include "replay/report/names.hpp"
#include "replay/trace/place.hpp"

namespace fragcast {
namespace {

// Keeps keys in the order in which they are written here.
using Json = nlohmann::ordered_json;

Json json_of(const EmptyingCall& call) {
  return {{"request", call.request},
          {"step", call.step > 0 ? Json(call.step) : Json(nullptr)},
          {"given_back", call.given_back.count()},
          {"asked_again", call.asked_again.count()}};
}

Json json_of(const Pin& pin, const CallStacks& stacks) {
  return {{"site", pin.site ? Json(describe(stacks, *pin.site)) : Json(nullptr)},
          {"segments", pin.segments},
          {"held", pin.held.count()},
          {"free", pin.free.count()}};
}

Json json_of(const CostEstimate& cost) {
  return {{"low_us", cost.low.count()},
          {"mid_us", cost.mid.count()},
          {"high_us", cost.high.count()},
          {"waits", cost.waits}};
}

Json json_of(const TriedPlacement& tried, const Trace& trace) {
  const Run& run = tried.run;
  Json json{{"name", tried.placement.name},
            {"also", tried.also},
            {"empty_cache", tried.changed.empty_cache},
            {"outcome", name_of(run.outcome)},
            {"fits", !fails_anew(run)},
            {"peak_reserved", run.peak.reserved.count()},
            {"mean_reserved", tried.mean_reserved.count()},
            {"final_reserved", run.final.reserved.count()},
            {"given_back", tried.given_back().count()},
            {"device_allocs", run.counts.device_allocs},
            {"device_frees", run.counts.device_frees},
            {"syncs", run.counts.syncs},
            {"alloc_retries", run.counts.alloc_retries},
            {"cost", json_of(tried.cost)},
            {"calls", Json::array()},
            {"pins", Json::array()}};
  for (const EmptyingCall& call : tried.calls) json["calls"].push_back(json_of(call));
  for (const Pin& pin : tried.pins) json["pins"].push_back(json_of(pin, trace.stacks));
  return json;
}

Json json_of(const PlacementStudy& study) {
  const RunConditions& conditions = study.tried.front().run.conditions;
  Json best = nullptr;
  if (study.best_place.request) {
    best = to_text(Place{place::AtRequest{*study.best_place.request}});
  }
  Json json{{"trace", {{"file", study.subject->source.file}, {"device", study.subject->device}}},
            {"model", conditions.model->name},
            {"settings", conditions.settings},
            {"device_memory",
             conditions.device_memory ? Json(conditions.device_memory->count()) : Json(nullptr)},
            {"others", conditions.others.count()},
            {"start", name_of(conditions.start)},
            {"prices", study.pricing.profile},
            {"steps", study.subject->trace().steps.count()},
            {"best_place", {{"place", best}, {"tried", study.best_place.tried}}},
            {"placements", Json::array()},
            {"recommended", study.tried[study.recommended].changed.empty_cache},
            {"verdict", study.verdict}};
  for (const TriedPlacement& tried : study.tried) {
    json["placements"].push_back(json_of(tried, study.trace_of(tried)));
  }
  return json;
}

}  // namespace

void write_json(std::span<const PlacementStudy> studies, std::ostream& out) {
  Json document{{"schema", "fragcast.placements"}, {"version", 1}, {"results", Json::array()}};
  for (const PlacementStudy& study : studies) document["results"].push_back(json_of(study));
  // What is no UTF-8 in a file's name must not stop the report.
  out << document.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace fragcast
