#include "replay/cli/command.hpp"
#include "replay/compare/compare.hpp"
#include "replay/report/comparison_text.hpp"
#include "replay/report/steps_text.hpp"
#include "replay/steps/step_table.hpp"

namespace fragcast {
namespace {

ExitStatus run_steps(const Options& options, Console& console) {
  for (const std::string& file : options.files) {
    for (const Subject& subject : load_subjects(file, options.load)) {
      const PreparedRun prepared{subject, options.setting, options.compare};
      if (options.verbosity == Verbosity::normal) write_subject(subject, console.out);
      write_steps(
          prepared.trace().steps,
          measure_steps(prepared.trace(), resolve_conditions(prepared.trace(), prepared.spec())),
          console.out);
    }
  }
  return ExitStatus::fine;
}

}  // namespace

Command steps_command() {
  return {
      .syntax = {.name = "steps",
                 .usage = "TRACE [options]",
                 .summary = "the steps of a training loop, and what each leaves behind",
                 .explanation = "Finds where steps begin (step lines, annotations, call stacks, "
                                "requests that repeat; or as the\noptions say) and shows what each "
                                "needed and kept. `kept, growing` is of call sites that leave\n"
                                "something behind in every step.\n",
                 .settings = SettingsArgument::one,
                 .changes_trace = true},
      .run = run_steps};
}

}  // namespace fragcast
