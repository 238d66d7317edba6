#pragma once

#include <string>
#include <vector>

#include "replay/cli/command.hpp"

namespace fragcast {

/// Runs fragcast as its command line says. Every error ends here as one line and an exit status.
[[nodiscard]] ExitStatus run_command_line(const std::vector<std::string>& words, Console& console);

}  // namespace fragcast
