#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/core/bytes.hpp"

namespace fragcast {

/// What an amount can be, both ends included. Sums and differences hold all that they can come to,
/// so a difference may be negative.
struct SizeRange {
  Bytes least;
  Bytes most;

  [[nodiscard]] constexpr bool contains(Bytes size) const { return least <= size && size <= most; }
  [[nodiscard]] constexpr bool overlaps(SizeRange other) const {
    return least <= other.most && other.least <= most;
  }
  [[nodiscard]] constexpr Bytes middle() const { return least + Bytes{(most - least) / Bytes{2}}; }

  friend constexpr SizeRange operator+(SizeRange a, SizeRange b) {
    return {.least = a.least + b.least, .most = a.most + b.most};
  }
  friend constexpr SizeRange operator-(SizeRange a, SizeRange b) {
    return {.least = a.least - b.most, .most = a.most - b.least};
  }
  constexpr bool operator==(const SizeRange&) const = default;
};

/// The range without what lies below zero, for an amount that cannot be negative.
[[nodiscard]] SizeRange at_least_zero(SizeRange range);
[[nodiscard]] SizeRange smaller(SizeRange a, SizeRange b);

/// The largest size that is not taken for impossible: sums of several still fit.
inline constexpr Bytes largest_printed = 1_GiB * (1 << 30);

/// For people, by the ends: "15.62 GiB..15.64 GiB"; one size where both print the same.
[[nodiscard]] std::string range_text(SizeRange range);

/// A size as a message prints it, rounded.
struct PrintedSize {
  /// As printed, with one blank before the unit.
  std::string text;
  /// All the sizes that print like this; without meaning where the figure is impossible.
  SizeRange range;
  /// Above 1 EiB: a negative amount that was printed as a large one (17179869184.00 GiB is 2^64
  /// bytes). Nothing is to be computed with it.
  bool impossible = false;

  bool operator==(const PrintedSize&) const = default;
};

/// What a text begins with.
struct PrintedSizeAt {
  enum class State : std::uint8_t {
    found,
    cut,   ///< what there is could be the beginning of a size
    none,  ///< it is none
  };
  State state = State::none;
  PrintedSize size;
  /// Of the text that it takes.
  std::size_t length = 0;
};

/// Reads a size, such as "602.00MiB" or "0bytes", at the beginning of a text without blanks. Units
/// change above 1024 of the smaller one, which narrows the range at the borders.
[[nodiscard]] PrintedSizeAt printed_size_at(std::string_view text);

}  // namespace fragcast
