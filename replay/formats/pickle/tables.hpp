#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "replay/formats/pickle/value.hpp"
#include "replay/trace/text_table.hpp"

namespace fragcast {

/// What values of a pickle refer to: its texts, and the numbers that do not fit a value.
class PickleTables {
 public:
  [[nodiscard]] TextTable<PickleText>& texts() { return texts_; }
  [[nodiscard]] const TextTable<PickleText>& texts() const { return texts_; }

  [[nodiscard]] PickleValue make_integer(std::int64_t number) {
    const PickleValue value{PickleKind::integer, static_cast<std::uint64_t>(number)};
    return value.signed_payload() == number ? value : make_wide(number);
  }
  /// From two's complement, least significant byte first, of any length.
  [[nodiscard]] PickleValue make_integer(std::string_view twos_complement);
  [[nodiscard]] PickleValue make_real(double number);
  [[nodiscard]] PickleValue make_text(std::string_view text);

  // Each of these gives nothing for a value that is not of its kind, or does not fit.

  /// An integer of −2^63 … 2^63 − 1.
  [[nodiscard]] std::optional<std::int64_t> integer(PickleValue value) const {
    if (value.kind() == PickleKind::integer) return value.signed_payload();
    return wide_integer(value);
  }
  /// An integer as 64 bits: 0 … 2^64 − 1, and the negative ones of `integer` in two's complement,
  /// because some writers cast addresses and handles to signed numbers.
  [[nodiscard]] std::optional<std::uint64_t> word(PickleValue value) const {
    if (value.kind() == PickleKind::integer) {
      return static_cast<std::uint64_t>(value.signed_payload());
    }
    return wide_word(value);
  }
  /// A floating-point number, or an integer as one.
  [[nodiscard]] std::optional<double> real(PickleValue value) const;
  [[nodiscard]] std::optional<bool> boolean(PickleValue value) const;
  /// Valid until the next text is made.
  [[nodiscard]] std::optional<std::string_view> text(PickleValue value) const;

 private:
  /// An integer of more than 56 bits.
  struct WideInteger {
    std::uint64_t bits = 0;
    enum class Range : std::uint8_t { negative, positive, beyond_64_bits } range = Range::positive;
  };
  [[nodiscard]] PickleValue make_wide(WideInteger number);
  [[nodiscard]] PickleValue make_wide(std::int64_t number);
  [[nodiscard]] std::optional<std::int64_t> wide_integer(PickleValue value) const;
  [[nodiscard]] std::optional<std::uint64_t> wide_word(PickleValue value) const;

  std::vector<WideInteger> wide_;
  std::vector<double> reals_;
  TextTable<PickleText> texts_;
};

}  // namespace fragcast
