#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "replay/cli/command.hpp"
#include "tests/support/catch.hpp"

// The help pages are made from the grammar itself. The man page and the shell completion are
// written by hand, so they are held against it.

namespace fragcast {
namespace {

std::string read_source_file(std::string_view path) {
  const std::ifstream file{std::filesystem::path{FRAGCAST_SOURCE_DIR} / path};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Every `--option` of the help page, without its dashes.
std::set<std::string> options_of(const Command& command) {
  const std::string help = help_text(command.syntax);
  std::set<std::string> options;
  for (std::size_t at = help.find("--"); at != std::string::npos; at = help.find("--", at + 2)) {
    const std::size_t begin = at + 2;
    const std::size_t end = help.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", begin);
    if (end > begin) options.insert(help.substr(begin, end - begin));
  }
  return options;
}

/// What of all commands and options `mention` does not find in the text.
template <class Mention>
std::vector<std::string> unmentioned(std::string_view text, Mention mention) {
  std::vector<std::string> missing;
  for (const Command& command : all_commands()) {
    for (const std::string& option : options_of(command)) {
      if (text.find(mention(option)) == std::string_view::npos) {
        missing.push_back(fmt::format("{} --{}", command.syntax.name, option));
      }
    }
  }
  return missing;
}

}  // namespace

TEST_CASE("the man page describes every command and option", "[cli]") {
  const std::string page = read_source_file("replay/cli/fragcast.1");
  for (const Command& command : all_commands()) {
    INFO(command.syntax.name);
    CHECK(page.find(fmt::format(".It Cm {}\n", command.syntax.name)) != std::string::npos);
  }
  CHECK(unmentioned(page, [](const std::string& option) { return "Fl -" + option; }) ==
        std::vector<std::string>{});
}

TEST_CASE("the shell completes every command and option", "[cli]") {
  const std::string script = read_source_file("replay/cli/fragcast.bash");
  for (const Command& command : all_commands()) {
    INFO(command.syntax.name);
    CHECK(script.find(command.syntax.name) != std::string::npos);
  }
  CHECK(unmentioned(script, [](const std::string& option) { return "--" + option; }) ==
        std::vector<std::string>{});
}

}  // namespace fragcast
