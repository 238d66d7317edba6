#include "replay/formats/input_error.hpp"

#include <fmt/format.h>

#include <utility>

namespace fragcast {
namespace {

std::string describe(const InputPosition& position, const std::string& sentence) {
  const std::string file = position.file.empty() ? "input" : position.file;
  if (position.line) return fmt::format("{}:{}: {}", file, *position.line, sentence);
  if (position.byte) return fmt::format("{}: byte {}: {}", file, *position.byte, sentence);
  return fmt::format("{}: {}", file, sentence);
}

}  // namespace

InputError::InputError(InputPosition position, const std::string& sentence)
    : std::runtime_error{describe(position, sentence)}, position_{std::move(position)} {}

}  // namespace fragcast
