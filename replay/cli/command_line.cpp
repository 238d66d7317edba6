#include "replay/cli/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "replay/formats/input_error.hpp"
#include "replay/report/printable.hpp"
#include "sim/core/check.hpp"

namespace fragcast {
namespace {

void print_overview(std::ostream& out) {
  out << "usage: fragcast COMMAND [options]\n\n"
         "Replays recorded allocations through an exact model of the device's caching allocator,\n"
         "and says what memory would have looked like under other settings.\n\n";
  for (const Command& command : all_commands()) {
    out << fmt::format("  {:<12} {}\n", command.syntax.name, command.syntax.summary);
  }
  out << "\n`fragcast COMMAND --help` explains a command. Start with\n"
         "  fragcast compare snapshot.pickle --setting expandable_segments:True\n";
}

bool asks_for(const std::vector<std::string>& words, const char* brief, const char* full) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word == brief || word == full;
  });
}

ExitStatus run(const std::vector<std::string>& words, Console& console) {
  if (words.empty() || words.front() == "--help" || words.front() == "-h" ||
      words.front() == "help") {
    print_overview(words.empty() ? console.err : console.out);
    return words.empty() ? ExitStatus::bad_input : ExitStatus::fine;
  }
  if (words.front() == "--version") {
    console.out << "fragcast " FRAGCAST_VERSION "\n";
    return ExitStatus::fine;
  }
  const auto commands = all_commands();
  const auto command =
      std::find_if(commands.begin(), commands.end(), [&](const Command& candidate) {
        return candidate.syntax.name == words.front();
      });
  if (command == commands.end()) {
    throw UsageError{fmt::format("there is no command '{}'; `fragcast --help` lists them",
                                 printable(words.front()))};
  }
  const std::vector<std::string> rest{words.begin() + 1, words.end()};
  if (asks_for(rest, "-h", "--help")) {
    console.out << help_text(command->syntax);
    return ExitStatus::fine;
  }
  return command->run(parse_options(command->syntax, rest), console);
}

}  // namespace

ExitStatus run_command_line(const std::vector<std::string>& words, Console& console) {
  const auto fail = [&console](ExitStatus status, const std::string& sentence) {
    console.out.flush();
    console.err << "fragcast: error: " << printable(sentence) << '\n';
    return status;
  };
  try {
    const ExitStatus status = run(words, console);
    console.out.flush();
    if (!console.out) return fail(ExitStatus::bad_input, "standard output cannot be written");
    return status;
  } catch (const UsageError& error) {
    return fail(ExitStatus::bad_input, error.what());
  } catch (const InputError& error) {
    return fail(ExitStatus::bad_input, error.what());
  } catch (const std::bad_alloc&) {
    return fail(ExitStatus::bad_input, "the machine has no memory left for this input");
  } catch (const std::exception& error) {
    return fail(ExitStatus::our_bug,
                fmt::format("a bug in fragcast, please report it: {}", error.what()));
  }
}

}  // namespace fragcast
