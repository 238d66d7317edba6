#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "replay/cli/command_line.hpp"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> words(argv + 1, argv + argc);
  fragcast::Console console{.out = std::cout,
                            .err = std::cerr,
                            .out_is_terminal = isatty(STDOUT_FILENO) != 0,
                            .err_is_terminal = isatty(STDERR_FILENO) != 0};
  return static_cast<int>(fragcast::run_command_line(words, console));
}
