#include "tests/support/recordings.hpp"

#include <fmt/core.h>

#include <cstdlib>

namespace fragcast {

std::optional<std::filesystem::path> recording(std::string_view relative) {
  const char* directory = std::getenv("FRAGCAST_RECORDINGS");
  if (directory == nullptr || *directory == '\0') {
    fmt::print("skipped: {} is wanted, but FRAGCAST_RECORDINGS is not set\n", relative);
    return std::nullopt;
  }
  std::filesystem::path path = std::filesystem::path{directory} / relative;
  if (!std::filesystem::exists(path)) {
    fmt::print("skipped: {} does not exist\n", path.string());
    return std::nullopt;
  }
  return path;
}

}  // namespace fragcast
