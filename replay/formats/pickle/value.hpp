#pragma once

#include <cstdint>

#include "sim/core/strong_id.hpp"

namespace fragcast {

/// A text of a pickle: a number in PickleTables::texts.
using PickleText = StrongId<struct PickleTextTag>;

/// What a PickleValue is. Numbers from `first_handle` on belong to the builder of the day.
enum class PickleKind : std::uint8_t {
  absent,  ///< no value; only in the machine's own tables
  object,  ///< a dict, list or tuple that is not part of another yet
  none,
  boolean,
  integer,       ///< of at most 56 bits
  wide_integer,  ///< a number in PickleTables
  real,          ///< a number in PickleTables
  text,          ///< a PickleText
  first_handle = 16,
};

/// One value of a pickle in 8 bytes, because millions wait in the memo: a kind and 56 bits.
class PickleValue {
 public:
  constexpr PickleValue() = default;
  constexpr PickleValue(PickleKind kind, std::uint64_t payload)
      : bits_{payload << 8 | static_cast<std::uint64_t>(kind)} {}

  [[nodiscard]] constexpr PickleKind kind() const { return static_cast<PickleKind>(bits_ & 0xff); }
  [[nodiscard]] constexpr std::uint64_t payload() const { return bits_ >> 8; }
  /// The payload as a signed number: what an `integer` is.
  [[nodiscard]] constexpr std::int64_t signed_payload() const {
    return static_cast<std::int64_t>(bits_) >> 8;
  }

  /// What a `text` is.
  [[nodiscard]] constexpr PickleText text() const {
    return PickleText{static_cast<std::uint32_t>(payload())};
  }
  [[nodiscard]] constexpr bool is_object() const { return kind() == PickleKind::object; }
  [[nodiscard]] constexpr bool is_handle() const { return kind() >= PickleKind::first_handle; }
  /// Whether it is a value, and one that never changes.
  [[nodiscard]] constexpr bool is_settled() const { return kind() > PickleKind::object; }

  constexpr bool operator==(const PickleValue&) const = default;

 private:
  std::uint64_t bits_ = 0;
};

}  // namespace fragcast
