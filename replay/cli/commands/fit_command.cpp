#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "replay/cli/commands/shared.hpp"
#include "replay/report/fit_json.hpp"
#include "replay/report/fit_text.hpp"
#include "replay/report/printable.hpp"
#include "replay/search/fit.hpp"

namespace fragcast {
namespace {

constexpr std::size_t usual_points = 48;
constexpr std::size_t most_points = 10'000;

std::size_t points_of(const Options& options) {
  const auto text = options.own.text("points");
  if (!text) return usual_points;
  std::size_t points = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), points);
  if (error != std::errc{} || end != text->data() + text->size() || points < 2 ||
      points > most_points) {
    throw UsageError{fmt::format("--points {}: a number in 2..{} must follow", *text, most_points)};
  }
  return points;
}

ExitStatus run_fit(const Options& options, Console& console) {
  if (!options.compare.device_memory.empty()) {
    throw UsageError{"fragcast fit searches the device memory: leave --device-memory out"};
  }
  const std::size_t points = points_of(options);
  Result json{options.json, console.out};
  Result csv{options.csv, console.out};
  Progress progress{console.err, console.progress(options.verbosity)};
  const std::vector<Subject> subjects = load_all(options, progress);
  std::vector<FitStudy> studies;
  for (const Subject& subject : subjects) {
    progress.now("searching what fits " + printable(subject.source.file));
    studies.push_back(study_fit(subject, options.compare, points));
  }
  json.write([&](std::ostream& out) { write_json(studies, out); });
  csv.write([&](std::ostream& out) { write_fit_csv(studies, out); });
  if (json.takes_standard_output() || csv.takes_standard_output()) return ExitStatus::fine;
  for (const FitStudy& study : studies) {
    const Emphasis emphasis = console.emphasis(options.color);
    if (options.verbosity == Verbosity::quiet) {
      write_verdict(study, emphasis, console.out);
    } else {
      write_fit(study, emphasis, console.out);
    }
  }
  return ExitStatus::fine;
}

}  // namespace

Command fit_command() {
  return {
      .syntax =
          {.name = "fit",
           .usage = "TRACE [--setting [NAME=]CONF]... [--others SIZE] [options]",
           .summary = "the least device memory at which the run completes",
           .explanation = "Searches, for the recorded, the default and the given settings, the "
                          "least device memory at which every\nrequest is served, with and without "
                          "retries, also where others hold a part (--others) or the\nallocator may "
                          "use a fraction. That more is always better is not assumed: sizes around "
                          "what was\nfound, and a grid over the rest, are tried too.\n",
           .settings = SettingsArgument::several,
           .changes_trace = true,
           .prices_calls = true,
           .searches_memory = true,
           .has_threads = true,
           .writes_json = true,
           .csv = "write what comes of every size tried: retries, calls, device time",
           .own = {{.name = "points", .argument = "N", .help = "sizes of the grid (default: 48)"}}},
      .run = run_fit};
}

}  // namespace fragcast
