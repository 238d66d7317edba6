// Runs the commands of a golden page (see page.hpp) and compares what they print with the page.
//
//     check_page FRAGCAST PAGE
//
// FRAGCAST_RECORDINGS names the directory of recordings. With FRAGCAST_REWRITE=1 the page is
// rewritten instead; review the difference. Exit status: 0 as the page says, 1 otherwise, 2 if the
// page cannot be used.

#include <fmt/core.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "tests/golden/page.hpp"
#include "tests/golden/run_page.hpp"

namespace fragcast {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int check_page(const std::filesystem::path& program, const std::filesystem::path& path) {
  const std::string text = read_text(path);
  const Page page = parse_page(text);
  if (page.commands.empty()) throw std::invalid_argument{"the page has no command to run"};
  const std::string recordings = environment("FRAGCAST_RECORDINGS");
  if (page.wants_recordings() && recordings.empty()) {
    fmt::print("skipped: the page wants recordings, but FRAGCAST_RECORDINGS is not set\n");
    return 0;
  }
  const auto outputs = run_page(page, program, recordings);
  if (environment("FRAGCAST_REWRITE") == "1") {
    const std::string now = rewritten(page, outputs);
    if (now != text) std::ofstream{path, std::ios::binary} << now;
    fmt::print("{}: {}\n", path.string(), now != text ? "rewritten" : "as it was");
    return 0;
  }
  int status = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const PageCommand& command = page.commands[i];
    const std::string unlike = difference(page.expected_output(command), outputs[i]);
    if (unlike.empty()) continue;
    fmt::print("{}:{}: $ {}\n{}\n", path.string(), command.line + 1, command.text, unlike);
    status = 1;
  }
  return status;
}

}  // namespace
}  // namespace fragcast

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: check_page FRAGCAST PAGE\n");
    return 2;
  }
  try {
    return fragcast::check_page(argv[1], argv[2]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[2], error.what());
    return 2;
  }
}
