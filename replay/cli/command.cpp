#include "replay/cli/command.hpp"

#include <array>

namespace fragcast {

std::span<const Command> all_commands() {
  static const std::array commands{info_command(),
                                   replay_command(),
                                   compare_command(),
                                   verify_command(),
                                   layout_command(),
                                   steps_command(),
                                   growth_command(),
                                   empty_cache_command(),
                                   fit_command(),
                                   tune_command(),
                                   oom_command(),
                                   models_command(),
                                   profiles_command()};
  return commands;
}

}  // namespace fragcast
