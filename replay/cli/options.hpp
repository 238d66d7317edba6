#pragma once

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "replay/compare/compare.hpp"
#include "replay/load/subject.hpp"
#include "sim/core/bytes.hpp"

namespace fragcast {

enum class Color : std::uint8_t { automatic, always, never };
enum class Verbosity : std::uint8_t { normal, quiet };

/// Values of the options that only the command itself knows (CommandSyntax::own).
class OwnValues {
 public:
  void set(std::string name, std::string text) {
    values_.insert_or_assign(std::move(name), std::move(text));
  }
  [[nodiscard]] bool has(const std::string& name) const { return values_.contains(name); }
  /// Absent where it was not given.
  [[nodiscard]] std::optional<std::string> text(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::nullopt : std::optional{found->second};
  }

 private:
  std::map<std::string, std::string> values_;
};

/// What the user asked for, typed and checked. A command reads the part that concerns it.
struct Options {
  /// As the command takes them (FileArguments).
  std::vector<std::string> files;

  LoadOptions load;
  CompareOptions compare;
  /// Commands that simulate once: the settings, if not the recorded ones.
  std::optional<NamedSettings> setting;
  OwnValues own;

  /// Output files; "-" is standard output.
  std::optional<std::string> json;
  std::optional<std::string> csv;
  Verbosity verbosity = Verbosity::normal;
  Color color = Color::automatic;
};

/// Command-line words that cannot be used. `main` prints the sentence and exits 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What `--setting` means to a command.
enum class SettingsArgument : std::uint8_t {
  recorded,  ///< what the recording was made under
  one,       ///< what to simulate; `--recorded-setting` is what the recording was made under
  several,   ///< likewise, again and again, and from `--settings-file`
};

/// What the words that are no options are to a command.
enum class FileArguments : std::uint8_t {
  traces,  ///< at least one; also options for how they are read, what was recorded, where steps
           ///< begin
  logs,    ///< any number; `-`, or none at all, is standard input
  none,
};

/// An option that one command alone has.
struct OwnOption {
  std::string name;
  /// What its value is, such as SIZE; a switch has none.
  std::string argument;
  std::string help;
};

/// What a command accepts beside `--quiet`, `--color` and `--help`.
struct CommandSyntax {
  std::string name;
  /// After the name, such as "TRACE [options]".
  std::string usage;
  std::string summary;
  /// What it does and what to look at, a few lines.
  std::string explanation;

  FileArguments files = FileArguments::traces;
  SettingsArgument settings = SettingsArgument::recorded;
  /// Transforms of the trace: `--empty-cache-at`, `--without`, …
  bool changes_trace = false;
  /// `--profile`, `--prices`.
  bool prices_calls = false;
  /// The device's memory is what the command searches: a profile does not set it.
  bool searches_memory = false;
  /// `--threads`.
  bool has_threads = false;
  bool writes_json = false;
  /// What `--csv` writes; empty if there is no such option.
  std::string csv;
  std::vector<OwnOption> own;
};

/// The help text of a command.
[[nodiscard]] std::string help_text(const CommandSyntax& syntax);

/// Reads the words after the command's name. Throws UsageError or InputError.
[[nodiscard]] Options parse_options(const CommandSyntax& syntax,
                                    const std::vector<std::string>& words);

/// Where an InputError about an option's value is.
[[nodiscard]] InputPosition at_option(const std::string& option);

}  // namespace fragcast
