#include "replay/cli/commands/shared.hpp"
#include "replay/report/info_text.hpp"

namespace fragcast {
namespace {

ExitStatus run_info(const Options& options, Console& console) {
  for (const std::string& file : options.files) {
    for (const Subject& subject : load_subjects(file, load_options(options))) {
      write_info(subject, console.out);
    }
  }
  return ExitStatus::fine;
}

}  // namespace

Command info_command() {
  return {.syntax = {.name = "info",
                     .usage = "TRACE... [options]",
                     .summary = "what is in the file, what was inferred, what is missing",
                     .explanation =
                         "Describes a recording: its events, streams, pools and call stacks, "
                         "the allocator and the settings\nit shows, the heap it began with, "
                         "and what cannot be known from it.\n",
                     .own = {salvage_option()}},
          .run = run_info};
}

}  // namespace fragcast
