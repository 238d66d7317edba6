#include <fmt/format.h>

#include <optional>
#include <vector>

#include "replay/cli/commands/shared.hpp"
#include "replay/compare/compare.hpp"
#include "replay/report/comparison_json.hpp"
#include "replay/report/printable.hpp"
#include "replay/report/series_csv.hpp"

namespace fragcast {
namespace {

ExitStatus run_compare(const Options& options, Console& console) {
  Result json{options.json, console.out};
  Result csv{options.csv, console.out};
  Progress progress{console.err, console.progress(options.verbosity)};
  const std::vector<Subject> subjects = load_all(options, progress);
  std::vector<Comparison> comparisons;
  comparisons.reserve(subjects.size());
  for (const Subject& subject : subjects) {
    progress.now(
        fmt::format("simulating {} under several settings", printable(subject.source.file)));
    comparisons.push_back(compare(subject, with_series(options)));
  }
  json.write([&](std::ostream& out) { write_json(comparisons, out); });
  csv.write([&](std::ostream& out) { write_series_csv(comparisons, out); });
  if (!json.takes_standard_output() && !csv.takes_standard_output()) {
    print(comparisons, options, console);
  }
  return ExitStatus::fine;
}

}  // namespace

Command compare_command() {
  return {.syntax = {.name = "compare",
                     .usage = "TRACE... [--setting [NAME=]CONF]... [options]",
                     .summary = "recorded, default and other settings, side by side",
                     .explanation =
                         "Replays a trace under its recorded settings, the default ones and "
                         "those given, checks first that\nthe recorded settings reproduce the "
                         "recording, and says what each would have changed.\n"
                         "Example: fragcast compare snapshot.pickle --setting "
                         "expandable_segments:True\n",
                     .settings = SettingsArgument::several,
                     .changes_trace = true,
                     .prices_calls = true,
                     .has_threads = true,
                     .writes_json = true,
                     .csv = series_csv_help},
          .run = run_compare};
}

}  // namespace fragcast
