#pragma once

#include <compare>
#include <cstdint>

#include "sim/core/bytes.hpp"

namespace fragcast {

/// A device address. `Address − Address` is Bytes; two addresses cannot be added.
class Address {
 public:
  constexpr Address() = default;
  constexpr explicit Address(std::uint64_t value) : value_{value} {}

  /// The raw number: for input and output only.
  [[nodiscard]] constexpr std::uint64_t value() const { return value_; }

  constexpr auto operator<=>(const Address&) const = default;

  friend constexpr Address operator+(Address a, Bytes n) {
    return Address{a.value_ + static_cast<std::uint64_t>(n.count())};
  }
  friend constexpr Address operator-(Address a, Bytes n) {
    return Address{a.value_ - static_cast<std::uint64_t>(n.count())};
  }
  friend constexpr Bytes operator-(Address a, Address b) {
    return Bytes{static_cast<std::int64_t>(a.value_ - b.value_)};
  }

 private:
  std::uint64_t value_ = 0;
};

/// The first multiple of `unit` at or after `address`.
[[nodiscard]] constexpr Address align_up(Address address, Bytes unit) {
  const auto u = static_cast<std::uint64_t>(unit.count());
  return Address{(address.value() + u - 1) / u * u};
}

/// The half-open stretch of addresses [begin, begin + size).
struct Extent {
  Address begin;
  Bytes size;

  [[nodiscard]] constexpr Address end() const { return begin + size; }
  [[nodiscard]] constexpr bool contains(Address a) const { return begin <= a && a < end(); }
  [[nodiscard]] constexpr bool overlaps(Extent other) const {
    return begin < other.end() && other.begin < end();
  }
  constexpr bool operator==(const Extent&) const = default;
};

}  // namespace fragcast
