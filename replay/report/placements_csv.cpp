#include "replay/report/placements_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "replay/report/csv.hpp"

namespace fragcast {
namespace {

void add(CsvRows& rows, const std::string& name, const TriedPlacement& tried, const Trace& trace) {
  const RunConditions& conditions = tried.run.conditions;
  for (std::size_t i = 0; i < tried.reserved.size(); ++i) {
    const Bytes reserved = tried.reserved[i];
    const std::string free =
        conditions.device_memory
            ? std::to_string(
                  std::max(*conditions.device_memory - conditions.others - reserved, Bytes{0})
                      .count())
            : std::string{};
    rows.add("{},{},{},{}\n", name, trace.events[i].source, reserved.count(), free);
  }
}

}  // namespace

void write_placements_csv(std::span<const PlacementStudy> studies, std::ostream& out) {
  out << "empty_cache_at,event,reserved,free\n";
  CsvRows rows{out};
  for (const PlacementStudy& study : studies) {
    for (const TriedPlacement& tried : study.tried) {
      const std::string name =
          studies.size() > 1 ? fmt::format("{}: {}", study.subject->device, tried.placement.name)
                             : tried.placement.name;
      add(rows, csv_field(name), tried, study.trace_of(tried));
    }
  }
}

}  // namespace fragcast
