#include "replay/formats/allocation_names.hpp"

#include <cstddef>
#include <optional>

namespace fragcast {
namespace {

/// The number that `name` spells in the only way (no leading zeros).
std::optional<std::size_t> plain_number(std::string_view name) {
  if (name.empty() || name.size() > 9 || (name.front() == '0' && name.size() > 1)) {
    return std::nullopt;
  }
  std::size_t number = 0;
  for (const char c : name) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<std::size_t>(c - '0');
  }
  return number;
}

}  // namespace

NamedAllocation& AllocationNames::operator[](std::string_view name) {
  if (NamedAllocation* known = find(name)) return *known;
  ++names_;
  const auto number = plain_number(name);
  // A number far beyond the count of names is hashed: it must not make a huge table.
  if (!number || *number >= 65536 + 4 * names_) return words_[std::string{name}];
  if (*number >= numbers_.size()) numbers_.resize(*number + 1);
  return numbers_[*number];
}

NamedAllocation* AllocationNames::find(std::string_view name) {
  const auto number = plain_number(name);
  if (number && *number < numbers_.size() && numbers_[*number].is_known()) {
    return &numbers_[*number];
  }
  if (words_.empty()) return nullptr;
  const auto found = words_.find(name);
  return found != words_.end() ? &found->second : nullptr;
}

}  // namespace fragcast
