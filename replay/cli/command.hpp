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
  failed = 1,     ///< an expectation or a verdict failed
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

[[nodiscard]] ExitStatus run_info(const Options& options, Console& console);
[[nodiscard]] ExitStatus run_replay(const Options& options, Console& console);
[[nodiscard]] ExitStatus run_compare(const Options& options, Console& console);
[[nodiscard]] ExitStatus run_verify(const Options& options, Console& console);
[[nodiscard]] ExitStatus run_layout(const Options& options, Console& console);
[[nodiscard]] ExitStatus run_steps(const Options& options, Console& console);
[[nodiscard]] ExitStatus run_models(const Options& options, Console& console);
[[nodiscard]] ExitStatus run_profiles(const Options& options, Console& console);

}  // namespace fragcast
