#include "replay/formats/allocation_names.hpp"

#include <cstddef>
#include <optional>

namespace fragcast {
namespace {

// Numbers from here on are hashed: a single large one must not make a huge table.
constexpr std::size_t table_limit = std::size_t{1} << 22;

/// The number that `name` spells in the only way (no leading zeros), if it is below the limit.
std::optional<std::size_t> small_number(std::string_view name) {
  if (name.empty() || name.size() > 7 || (name.front() == '0' && name.size() > 1)) {
    return std::nullopt;
  }
  std::size_t number = 0;
  for (const char c : name) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<std::size_t>(c - '0');
  }
  return number < table_limit ? std::optional{number} : std::nullopt;
}

}  // namespace

NamedAllocation& AllocationNames::operator[](std::string_view name) {
  if (const auto number = small_number(name)) {
    if (*number >= numbers_.size()) numbers_.resize(*number + 1);
    return numbers_[*number];
  }
  const auto found = words_.find(name);
  return found != words_.end() ? found->second : words_[std::string{name}];
}

NamedAllocation* AllocationNames::find(std::string_view name) {
  if (const auto number = small_number(name)) {
    return *number < numbers_.size() && numbers_[*number].is_known() ? &numbers_[*number] : nullptr;
  }
  const auto found = words_.find(name);
  return found != words_.end() ? &found->second : nullptr;
}

}  // namespace fragcast
