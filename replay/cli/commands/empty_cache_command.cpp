#include <variant>
#include <vector>

#include "replay/cli/commands/shared.hpp"
#include "replay/report/placements_csv.hpp"
#include "replay/report/placements_json.hpp"
#include "replay/report/placements_text.hpp"
#include "replay/report/printable.hpp"
#include "replay/search/study_placements.hpp"

namespace fragcast {
namespace {

void require_placements(const Options& options) {
  if (!std::holds_alternative<DropEmptyCache>(options.compare.changes.empty_cache)) return;
  throw UsageError{
      "fragcast empty-cache tries to keep and to drop the recorded calls by itself; leave "
      "--empty-cache out"};
}

ExitStatus run_empty_cache(const Options& options, Console& console) {
  require_placements(options);
  Result json{options.json, console.out};
  Result csv{options.csv, console.out};
  Progress progress{console.err, console.progress(options.verbosity)};
  const std::vector<Subject> subjects = load_all(options, progress);
  const KeepSeries keep = options.csv ? KeepSeries::yes : KeepSeries::no;
  std::vector<PlacementStudy> studies;
  for (const Subject& subject : subjects) {
    progress.now("trying places for empty_cache in " + printable(subject.source.file));
    studies.push_back(study_placements(subject, options.setting, options.compare, keep));
  }
  json.write([&](std::ostream& out) { write_json(studies, out); });
  csv.write([&](std::ostream& out) { write_placements_csv(studies, out); });
  if (json.takes_standard_output() || csv.takes_standard_output()) return ExitStatus::fine;
  for (const PlacementStudy& study : studies) {
    const Emphasis emphasis = console.emphasis(options.color);
    if (options.verbosity == Verbosity::quiet) {
      write_verdict(study, emphasis, console.out);
    } else {
      write_placements(study, emphasis, console.out);
    }
  }
  return ExitStatus::fine;
}

}  // namespace

Command empty_cache_command() {
  return {.syntax =
              {.name = "empty-cache",
               .usage = "TRACE [--setting CONF] [--empty-cache-at WHEN,...] [options]",
               .summary = "where to call empty_cache, what it gives back and what it costs",
               .explanation =
                   "Tries the sensible places to call empty_cache: none, as recorded, after every "
                   "step or every few,\nbefore the steps that need most, when much is unused, the "
                   "best single place, and your own\n(--empty-cache-at). Recommends one of them, "
                   "or none, and says who pins what a call cannot give back.\n",
               .settings = SettingsArgument::one,
               .changes_trace = true,
               .prices_calls = true,
               .has_threads = true,
               .writes_json = true,
               .csv = "write what each placement leaves to others after every event",
               .own = {}},
          .run = run_empty_cache};
}

}  // namespace fragcast
