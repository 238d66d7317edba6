#pragma once

#include <boost/program_options.hpp>
#include <vector>

#include "replay/cli/options.hpp"

namespace fragcast {

/// The options of a command. On the help page they stand in groups; all are parsed together.
struct Grammar {
  std::vector<boost::program_options::options_description> groups;

  [[nodiscard]] boost::program_options::options_description all() const {
    boost::program_options::options_description together;
    for (const auto& group : groups) together.add(group);
    return together;
  }
};

[[nodiscard]] Grammar grammar_of(const CommandSyntax& syntax);

}  // namespace fragcast
