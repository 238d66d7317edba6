#include "replay/report/steps_text.hpp"

#include <fmt/format.h>

#include "replay/report/printable.hpp"
#include "replay/report/table.hpp"
#include "replay/trace/quantity.hpp"

namespace fragcast {
namespace {

std::string requests(const StepRow& row) {
  if (row.last_request < row.first_request) return "none";
  return fmt::format("{} to {}",
                     grouped(static_cast<std::int64_t>(row.first_request)),
                     grouped(static_cast<std::int64_t>(row.last_request)));
}

Table::Row cells(std::string name, const StepRow& row) {
  return {std::move(name),
          requests(row),
          human_size(row.peak_allocated),
          human_size(row.peak_reserved),
          human_size(row.gap_at_peak),
          grouped(row.device_allocs),
          human_size(row.live_at_end),
          human_size(row.survivors.once),
          human_size(row.survivors.growing),
          human_size(row.survivors.carried)};
}

}  // namespace

void write_steps(const Steps& steps, const StepTable& table, std::ostream& out) {
  if (steps.empty()) {
    out << "no steps were found: the trace has no step lines, no annotations, no function whose "
           "lines start over, and no requests that repeat (--step-at, --steps and --step-marker "
           "say where they are)\n";
  } else {
    out << fmt::format("{} steps, marked by {}\n\n", steps.count(), printable(steps.marked_by));
  }
  Table lines;
  lines.add({"step",
             "requests",
             "peak allocated",
             "peak reserved",
             "gap there",
             "device allocs",
             "live at end",
             "kept, once",
             "kept, growing",
             "carried over"});
  if (steps.empty() || table.before.last_request >= table.before.first_request) {
    lines.add(cells(steps.empty() ? "all" : "before", table.before));
  }
  for (std::size_t i = 0; i < table.steps.size(); ++i) {
    lines.add(cells(std::to_string(i + 1), table.steps[i]));
  }
  lines.print(out);
}

}  // namespace fragcast
