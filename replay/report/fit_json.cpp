#include "replay/report/fit_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "replay/report/csv.hpp"
#include "replay/report/names.hpp"

namespace fragcast {
namespace {

// Keeps keys in the order in which they are written here.
using Json = nlohmann::ordered_json;

Json json_of(std::optional<Bytes> size) { return size ? Json(size->count()) : Json(nullptr); }

Json json_of(const FitPoint& point) {
  return {{"device_memory", point.device_memory.count()},
          {"completes", point.completes},
          {"alloc_retries", point.retries},
          {"syncs", point.syncs},
          {"device_allocs", point.device_allocs},
          {"device_frees", point.device_frees},
          {"peak_reserved", point.peak_reserved.count()},
          {"cost",
           {{"low_us", point.cost.low.count()},
            {"mid_us", point.cost.mid.count()},
            {"high_us", point.cost.high.count()},
            {"waits", point.cost.waits}}}};
}

Json json_of(const FitRow& row) {
  Json json{{"name", row.name},
            {"also", row.also},
            {"settings", row.settings},
            {"start", name_of(row.start)},
            {"refusal", row.refusal.empty() ? Json(nullptr) : Json(row.refusal)},
            {"bound", row.bound.count()},
            {"peak_reserved", row.peak_reserved.count()},
            {"least", json_of(row.least)},
            {"least_without_retries", json_of(row.least_without_retries)},
            {"exhaustive", row.exhaustive},
            {"holes", Json::array()},
            {"tried", Json::array()}};
  for (const FitHole& hole : row.holes) {
    json["holes"].push_back({{"first", hole.first.count()}, {"last", hole.last.count()}});
  }
  for (const FitPoint& point : row.tried) json["tried"].push_back(json_of(point));
  return json;
}

Json json_of(const FitStudy& study) {
  Json json{{"trace", {{"file", study.subject->source.file}, {"device", study.subject->device}}},
            {"others", study.others.count()},
            {"fraction", study.fraction ? Json(*study.fraction) : Json(nullptr)},
            {"granule", fit_granule.count()},
            {"prices", study.pricing.profile},
            {"rows", Json::array()},
            {"verdict", study.verdict}};
  for (const FitRow& row : study.rows) json["rows"].push_back(json_of(row));
  return json;
}

}  // namespace

void write_json(std::span<const FitStudy> studies, std::ostream& out) {
  Json document{{"schema", "fragcast.fit"}, {"version", 1}, {"results", Json::array()}};
  for (const FitStudy& study : studies) document["results"].push_back(json_of(study));
  // What is no UTF-8 in a file's name must not stop the report.
  out << document.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
}

void write_fit_csv(std::span<const FitStudy> studies, std::ostream& out) {
  out << "setting,device_memory,completes,retries,syncs,device_allocs,device_frees,peak_reserved,"
         "low_us,mid_us,high_us\n";
  CsvRows rows{out};
  for (const FitStudy& study : studies) {
    for (const FitRow& row : study.rows) {
      const std::string name = csv_field(
          studies.size() > 1 ? fmt::format("{}: {}", study.subject->device, row.name) : row.name);
      for (const FitPoint& point : row.tried) {
        rows.add("{},{},{},{},{},{},{},{},{:.1f},{:.1f},{:.1f}\n",
                 name,
                 point.device_memory.count(),
                 point.completes ? "yes" : "no",
                 point.retries,
                 point.syncs,
                 point.device_allocs,
                 point.device_frees,
                 point.peak_reserved.count(),
                 point.cost.low.count(),
                 point.cost.mid.count(),
                 point.cost.high.count());
      }
    }
  }
}

}  // namespace fragcast
