#include "replay/cli/commands/shared.hpp"
#include "replay/compare/compare.hpp"
#include "replay/engine/session.hpp"
#include "replay/report/comparison_text.hpp"
#include "replay/report/info_text.hpp"
#include "replay/trace/place.hpp"
#include "sim/observe/draw.hpp"
#include "sim/observe/fragmentation.hpp"

namespace fragcast {
namespace {

Layout layout_of(const Subject& subject, const Options& options) {
  if (subject.state_only()) return subject.trace().initial.heap;
  const PreparedRun prepared{subject, options.setting, options.compare};
  const InputPosition where = at_option("at");
  const auto text = options.own.text("at");
  const Place place = text ? parse_place(*text, where) : Place{place::AtEnd{}};
  const auto position = resolve(prepared.trace(), place, where);
  if (!position) {
    const Run run = replay(prepared.trace(), prepared.spec());
    if (run.outcome == RunOutcome::refused) throw UsageError{run.reason};
    return run.at_peak_reserved.heap;
  }
  Session session{prepared.trace(), resolve_conditions(prepared.trace(), prepared.spec())};
  if (!session.refusal().empty()) throw UsageError{session.refusal()};
  session.run_to(*position);
  return session.model().layout();
}

ExitStatus run_layout(const Options& options, Console& console) {
  for (const std::string& file : options.files) {
    for (const Subject& subject : load_subjects(file, load_options(options))) {
      const Layout layout = layout_of(subject, options);
      if (options.verbosity == Verbosity::normal) {
        write_subject(subject, console.out);
        write_fragmentation(measure_fragmentation(layout), console.out);
      }
      console.out << draw(layout);
    }
  }
  return ExitStatus::fine;
}

}  // namespace

Command layout_command() {
  return {
      .syntax = {.name = "layout",
                 .usage = "TRACE [--at PLACE] [options]",
                 .summary = "the heap as text: segments by address, [A 2M][. 6M]",
                 .explanation = "Draws the heap at a place of the trace: A allocated, P pending, H "
                                "held back, . free.\n",
                 .settings = SettingsArgument::one,
                 .own = {{.name = "at",
                          .argument = "PLACE",
                          .help = "event:N, request:N, mark:TEXT, step:K, step:K.end, peak or end "
                                  "(default: end)"},
                         salvage_option()}},
      .run = run_layout};
}

}  // namespace fragcast
