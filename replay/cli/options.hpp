#pragma once

#include <optional>
#include <string>
#include <vector>

#include "replay/compare/compare.hpp"
#include "replay/load/subject.hpp"
#include "replay/trace/place.hpp"
#include "sim/core/bytes.hpp"

namespace fragcast {

enum class Color : std::uint8_t { automatic, always, never };
enum class Verbosity : std::uint8_t { normal, quiet };

/// What the user asked for, typed and checked. A command reads the part that concerns it.
struct Options {
  /// Trace files, at least one where the command needs one.
  std::vector<std::string> files;

  LoadOptions load;
  CompareOptions compare;
  /// `replay` and `layout`: the settings to simulate, if not the recorded ones.
  std::optional<NamedSettings> setting;
  std::optional<Place> at;
  /// `verify`: how many percent may differ.
  double tolerance = 0.0;

  /// Output files; "-" is standard output.
  std::optional<std::string> json;
  std::optional<std::string> csv;
  std::optional<std::string> snapshot_out;
  std::optional<std::string> answers;
  std::optional<std::string> expect;
  Verbosity verbosity = Verbosity::normal;
  Color color = Color::automatic;
};

/// Command-line words that cannot be used. `main` prints the sentence and exits 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a command accepts beside `--help`.
struct CommandSyntax {
  std::string name;
  /// After the name, such as "TRACE [options]".
  std::string usage;
  std::string summary;
  /// What it does and what to look at, a few lines.
  std::string explanation;
  /// Groups of options that apply.
  bool reads_trace = true;
  bool simulates = false;
  bool compares = false;
  bool verifies = false;
  bool has_place = false;
  /// Simulates once, and shows something of it.
  bool looks_into_run = false;
  bool lists_profiles = false;
};

/// The help text of a command.
[[nodiscard]] std::string help_text(const CommandSyntax& syntax);

/// Reads the words after the command's name. Throws UsageError or InputError.
[[nodiscard]] Options parse_options(const CommandSyntax& syntax,
                                    const std::vector<std::string>& words);

}  // namespace fragcast
