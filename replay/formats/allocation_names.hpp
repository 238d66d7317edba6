#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/core/strong_id.hpp"

namespace fragcast {

/// What one name of a call script stands for at present, and the lines that say so.
struct NamedAllocation {
  AllocationId allocation;
  /// 0: the name was never used.
  std::uint32_t allocated_line = 0;
  /// 0: not freed since.
  std::uint32_t freed_line = 0;

  [[nodiscard]] bool is_known() const { return allocated_line != 0; }
  [[nodiscard]] bool is_live() const { return is_known() && freed_line == 0; }
};

/// The names of allocations in a call script: any words. Plain numbers, which generated scripts
/// use, are looked up without hashing.
class AllocationNames {
 public:
  /// The entry of `name`, made (and not known yet) if there is none.
  NamedAllocation& operator[](std::string_view name);
  /// The entry of `name`, or null.
  [[nodiscard]] NamedAllocation* find(std::string_view name);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  /// How many there are.
  std::size_t names_ = 0;
  std::vector<NamedAllocation> numbers_;
  std::unordered_map<std::string, NamedAllocation, Hash, std::equal_to<>> words_;
};

}  // namespace fragcast
