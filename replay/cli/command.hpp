#pragma once

#include <ostream>
#include <span>
#include <string_view>

#include "replay/cli/options.hpp"
#include "replay/cli/progress.hpp"
#include "replay/report/emphasis.hpp"

namespace fragcast {

/// Exit statuses, the same for all commands.
enum class ExitStatus : int {
  fine = 0,
  failed = 1,     ///< an expectation or a verdict failed, or nothing was found
  bad_input = 2,  ///< usage or input
  our_bug = 70,
};

/// Where a command writes, and which of it is a terminal.
struct Console {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;

  [[nodiscard]] Emphasis emphasis(Color color) const {
    const bool wanted = color == Color::always || (color == Color::automatic && out_is_terminal);
    return wanted ? Emphasis::terminal : Emphasis::plain;
  }
  [[nodiscard]] Progress::Shown progress(Verbosity verbosity) const {
    const bool wanted = err_is_terminal && verbosity == Verbosity::normal;
    return wanted ? Progress::Shown::yes : Progress::Shown::no;
  }
};

/// One subcommand.
struct Command {
  CommandSyntax syntax;
  ExitStatus (*run)(const Options& options, Console& console);
};

/// All of them, in the order of the help page.
[[nodiscard]] std::span<const Command> all_commands();

[[nodiscard]] Command info_command();
[[nodiscard]] Command replay_command();
[[nodiscard]] Command compare_command();
[[nodiscard]] Command verify_command();
[[nodiscard]] Command layout_command();
[[nodiscard]] Command steps_command();
[[nodiscard]] Command growth_command();
[[nodiscard]] Command empty_cache_command();
[[nodiscard]] Command fit_command();
[[nodiscard]] Command tune_command();
[[nodiscard]] Command oom_command();
[[nodiscard]] Command models_command();
[[nodiscard]] Command profiles_command();

}  // namespace fragcast
