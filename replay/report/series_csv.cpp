#include "replay/report/series_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

#include "replay/report/csv.hpp"

namespace fragcast {
namespace {

void add_run(CsvRows& rows, std::string_view name, const Run& run, const Trace& trace) {
  const std::size_t count = std::min(run.series.size(), run.events);
  for (std::size_t i = 0; i < count; ++i) {
    // One entry of a history may have become several events: the last of them counts.
    const std::uint32_t source = trace.events[i].source;
    const bool is_last = i + 1 == count || trace.events[i + 1].source != source;
    if (is_last) {
      const Usage& usage = run.series[i];
      rows.add("{},{},{},{},{},{}\n",
               name,
               source,
               usage.requested.count(),
               usage.allocated.count(),
               usage.active.count(),
               usage.reserved.count());
    }
  }
}

}  // namespace

void write_series_csv(std::span<const Comparison> comparisons, std::ostream& output) {
  output << "run,event,requested,allocated,active,reserved\n";
  CsvRows rows{output};
  for (const Comparison& comparison : comparisons) {
    for (const ComparedRun& compared : comparison.runs) {
      const Run& run = compared.run;
      const std::string name = comparisons.size() > 1
                                   ? fmt::format("{}: {}", comparison.subject->device, run.name)
                                   : run.name;
      add_run(rows, csv_field(name), run, comparison.trace_of(compared));
    }
  }
}

}  // namespace fragcast
