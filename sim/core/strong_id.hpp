#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace fragcast {

/// A dense number that names one thing of one kind: ids of different tags do not mix.
template <class Tag, class Rep = std::uint32_t>
class StrongId {
 public:
  constexpr StrongId() = default;
  constexpr explicit StrongId(std::integral auto value) : value_{static_cast<Rep>(value)} {}

  [[nodiscard]] constexpr Rep value() const { return value_; }
  [[nodiscard]] constexpr std::size_t index() const { return value_; }

  constexpr auto operator<=>(const StrongId&) const = default;

 private:
  Rep value_ = 0;
};

/// One allocation of a trace, numbered 0…n−1 in order of birth.
using AllocationId = StrongId<struct AllocationTag>;
/// One stream of a device. Numbers are dense; their order is the order of the streams' keys.
using StreamId = StrongId<struct StreamTag, std::uint16_t>;
/// One private memory pool, as the caller numbers it (a graph's or a `use_mem_pool` pool).
using PoolId = StrongId<struct PoolTag>;

}  // namespace fragcast
