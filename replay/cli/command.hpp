#pragma once

#include <ostream>
#include <span>
#include <string_view>

#include "replay/cli/options.hpp"

namespace fragcast {

/// Exit statuses, the same for all commands.
enum class ExitStatus : int {
  fine = 0,
  failed = 1,     ///< an expectation or a verdict failed
  bad_input = 2,  ///< usage or input
  our_bug = 70,
};

/// Where a command writes.
struct Console {
  std::ostream& out;
  std::ostream& err;
};

/// One subcommand.
struct Command {
  CommandSyntax syntax;
  ExitStatus (*run)(const Options& options, Console& console);
};

/// All of them, in the order of the help page.
[[nodiscard]] std::span<const Command> all_commands();

[[nodiscard]] ExitStatus run_info(const Options& options, Console& console);
[[nodiscard]] ExitStatus run_replay(const Options& options, Console& console);
[[nodiscard]] ExitStatus run_compare(const Options& options, Console& console);
[[nodiscard]] ExitStatus run_verify(const Options& options, Console& console);
[[nodiscard]] ExitStatus run_layout(const Options& options, Console& console);
[[nodiscard]] ExitStatus run_models(const Options& options, Console& console);

}  // namespace fragcast
