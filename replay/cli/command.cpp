#include "replay/cli/command.hpp"

#include <array>

namespace fragcast {

std::span<const Command> all_commands() {
  static const std::array commands{
      Command{.syntax = {.name = "info",
                         .usage = "TRACE... [options]",
                         .summary = "what is in the file, what was inferred, what is missing",
                         .explanation =
                             "Describes a recording: its events, streams, pools and call stacks, "
                             "the allocator and the settings\nit shows, the heap it began with, "
                             "and what cannot be known from it.\n"},
              .run = run_info},
      Command{.syntax = {.name = "replay",
                         .usage = "TRACE [--setting CONF] [options]",
                         .summary = "one simulation",
                         .explanation =
                             "Replays the requests of a trace through the allocator's model. Exits "
                             "1 when a request fails that\ndid not fail in the recording, 2 when "
                             "the setting is refused.\n",
                         .simulates = true},
              .run = run_replay},
      Command{.syntax = {.name = "compare",
                         .usage = "TRACE... [--setting [NAME=]CONF]... [options]",
                         .summary = "recorded, default and other settings, side by side",
                         .explanation =
                             "Replays a trace under its recorded settings, the default ones and "
                             "those given, checks first that\nthe recorded settings reproduce the "
                             "recording, and says what each would have changed.\n"
                             "Example: fragcast compare snapshot.pickle --setting "
                             "expandable_segments:True\n",
                         .compares = true},
              .run = run_compare},
      Command{.syntax = {.name = "verify",
                         .usage = "TRACE... [options]",
                         .summary = "does the model reproduce this recording?",
                         .explanation =
                             "Replays a recording as it was recorded and compares every "
                             "allocation's address and every segment\nevent with it. Exits 1 "
                             "unless all agree, 2 where there is no history to replay.\n",
                         .verifies = true},
              .run = run_verify},
      Command{.syntax = {.name = "layout",
                         .usage = "TRACE [--at PLACE] [options]",
                         .summary = "the heap as text: segments by address, [A 2M][. 6M]",
                         .explanation =
                             "Draws the heap at a place of the trace: A allocated, P pending, H "
                             "held back, . free.\n",
                         .has_place = true},
              .run = run_layout},
      Command{.syntax = {.name = "steps",
                         .usage = "TRACE [options]",
                         .summary = "the steps of a training loop, and what each leaves behind",
                         .explanation =
                             "Finds where steps begin (step lines, annotations, call stacks, "
                             "requests that repeat; or as the\noptions say) and shows what each "
                             "needed and kept. `kept, growing` is of call sites that leave\n"
                             "something behind in every step.\n",
                         .looks_into_run = true},
              .run = run_steps},
      Command{.syntax = {.name = "models",
                         .usage = "",
                         .summary = "the allocator models and their options",
                         .explanation = "Lists the allocators that can be simulated, and what "
                                        "their settings strings accept.\n",
                         .reads_trace = false},
              .run = run_models},
      Command{.syntax = {.name = "profiles",
                         .usage = "[--profile NAME]",
                         .summary = "the devices whose calls have prices",
                         .explanation =
                             "Lists devices: the memory that an allocator is told of, what of it "
                             "is free when a process starts,\nand what the prices rest on that "
                             "device time is estimated with; or the prices of one of them.\n",
                         .reads_trace = false,
                         .lists_profiles = true},
              .run = run_profiles},
  };
  return commands;
}

}  // namespace fragcast
