#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "replay/cli/commands/shared.hpp"
#include "replay/compare/compare.hpp"
#include "replay/explain/growth.hpp"
#include "replay/report/comparison_text.hpp"
#include "replay/report/growth_csv.hpp"
#include "replay/report/growth_text.hpp"
#include "replay/trace/place.hpp"

namespace fragcast {
namespace {

std::optional<std::size_t> number_of(const Options& options, const char* option) {
  const auto text = options.own.text(option);
  if (!text) return std::nullopt;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error == std::errc{} && end == text->data() + text->size()) return number;
  throw UsageError{fmt::format("--{} {}: a number must follow", option, *text)};
}

GrowthSelection selection_of(const Options& options, const Trace& trace) {
  GrowthSelection selection;
  selection.step = number_of(options, "step");
  if (selection.step && *selection.step > trace.steps.count()) {
    throw UsageError{trace.steps.empty()
                         ? "--step: no steps were found in the trace (--step-at, --steps and "
                           "--step-marker say where they are)"
                         : fmt::format("--step {}: the trace has steps 1 to {}, and 0 before them",
                                       *selection.step,
                                       trace.steps.count())};
  }
  selection.top = number_of(options, "top").value_or(selection.top);
  return selection;
}

/// The growth by the request at the place that `--at` names, or the next one behind it; null
/// without `--at`.
const Growth* chosen_growth(const GrowthTable& table, const Options& options, const Trace& trace) {
  const auto text = options.own.text("at");
  if (!text) return nullptr;
  const InputPosition where = at_option("at");
  const auto position = resolve(trace, parse_place(*text, where), where);
  if (!position) throw UsageError{"--at peak: a growth is a request; name it as request:N"};
  const auto found =
      std::find_if(table.growths.begin(), table.growths.end(), [&](const Growth& growth) {
        return growth.event + 1 >= *position;
      });
  if (found == table.growths.end()) {
    throw UsageError{
        fmt::format("--at {}: reserved memory does not grow there or behind it", *text)};
  }
  return &*found;
}

ExitStatus run_growth(const Options& options, Console& console) {
  Result csv{options.csv, console.out};
  Progress progress{console.err, console.progress(options.verbosity)};
  const std::vector<Subject> subjects = load_all(options, progress);
  if (options.csv && subjects.size() != 1) {
    throw UsageError{"--csv is about one device of one trace; choose with --device"};
  }
  for (const Subject& subject : subjects) {
    const PreparedRun prepared{subject, options.setting, options.compare};
    const Trace& trace = prepared.trace();
    const GrowthSelection selection = selection_of(options, trace);
    const GrowthTable table = find_growths(trace, resolve_conditions(trace, prepared.spec()));
    const Growth* chosen = chosen_growth(table, options, trace);
    csv.write([&](std::ostream& out) { write_growth_csv(table, trace, out); });
    if (csv.takes_standard_output()) return ExitStatus::fine;
    if (options.verbosity == Verbosity::normal) write_subject(subject, console.out);
    if (chosen == nullptr) {
      write_growths(table, trace, selection, console.out);
    } else {
      write_growth(*chosen, trace, layout_at(trace, prepared.spec(), chosen->event), console.out);
    }
  }
  return ExitStatus::fine;
}

}  // namespace

Command growth_command() {
  return {
      .syntax = {.name = "growth",
                 .usage = "TRACE [--step K] [--at PLACE] [options]",
                 .summary = "each request for which reserved memory grew, and why",
                 .explanation =
                     "Lists the requests for which the device was asked, with what was free before "
                     "them, and why no hole\nserved; --at shows one of them with the holes and "
                     "their neighbours.\n",
                 .settings = SettingsArgument::one,
                 .changes_trace = true,
                 .csv = "write all of them, in exact bytes",
                 .own = {{.name = "step",
                          .argument = "K",
                          .help = "only those of this step (0: before the first)"},
                         {.name = "at",
                          .argument = "PLACE",
                          .help = "the growth there, or the next one, with the holes around it"},
                         {.name = "top",
                          .argument = "N",
                          .help = "how many are shown, those that ask for most (default: 40)"}}},
      .run = run_growth};
}

}  // namespace fragcast
