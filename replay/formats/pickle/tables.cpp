#include "replay/formats/pickle/tables.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

namespace fragcast {

static_assert(std::endian::native == std::endian::little, "numbers are read as they stand");
PickleValue PickleTables::make_integer(std::string_view twos_complement) {
  const std::size_t size = twos_complement.size();
  if (size == 0) return make_integer(0);
  const bool negative = (static_cast<unsigned char>(twos_complement.back()) & 0x80) != 0;
  std::uint64_t bits = negative ? ~std::uint64_t{0} : 0;
  std::memcpy(&bits, twos_complement.data(), std::min(size, sizeof bits));
  if (size <= sizeof bits) return make_integer(static_cast<std::int64_t>(bits));

  const std::string_view rest = twos_complement.substr(sizeof bits);
  const char filler = negative ? '\xff' : '\0';
  const bool fits = rest.find_first_not_of(filler) == std::string_view::npos;
  const bool high_bit = (bits >> 63) != 0;
  if (!fits || (negative && !high_bit)) {
    return make_wide({.bits = bits, .range = WideInteger::Range::beyond_64_bits});
  }
  if (!negative && high_bit) {
    return make_wide({.bits = bits, .range = WideInteger::Range::positive});
  }
  return make_integer(static_cast<std::int64_t>(bits));
}

PickleValue PickleTables::make_wide(WideInteger number) {
  wide_.push_back(number);
  return {PickleKind::wide_integer, wide_.size() - 1};
}

PickleValue PickleTables::make_wide(std::int64_t number) {
  return make_wide(
      {.bits = static_cast<std::uint64_t>(number),
       .range = number < 0 ? WideInteger::Range::negative : WideInteger::Range::positive});
}

PickleValue PickleTables::make_real(double number) {
  reals_.push_back(number);
  return {PickleKind::real, reals_.size() - 1};
}

PickleValue PickleTables::make_text(std::string_view text) {
  return {PickleKind::text, texts_.intern(text).value()};
}

std::optional<std::int64_t> PickleTables::wide_integer(PickleValue value) const {
  if (value.kind() != PickleKind::wide_integer) return std::nullopt;
  const WideInteger& wide = wide_[value.payload()];
  const bool high_bit = (wide.bits >> 63) != 0;
  if (wide.range == WideInteger::Range::beyond_64_bits) return std::nullopt;
  if (wide.range == WideInteger::Range::positive && high_bit) return std::nullopt;
  return static_cast<std::int64_t>(wide.bits);
}

std::optional<std::uint64_t> PickleTables::wide_word(PickleValue value) const {
  if (value.kind() != PickleKind::wide_integer) return std::nullopt;
  const WideInteger& wide = wide_[value.payload()];
  if (wide.range == WideInteger::Range::beyond_64_bits) return std::nullopt;
  return wide.bits;
}

std::optional<double> PickleTables::real(PickleValue value) const {
  if (value.kind() == PickleKind::real) return reals_[value.payload()];
  if (const auto number = integer(value)) return static_cast<double>(*number);
  return std::nullopt;
}

std::optional<bool> PickleTables::boolean(PickleValue value) const {
  if (value.kind() != PickleKind::boolean) return std::nullopt;
  return value.payload() != 0;
}

std::optional<std::string_view> PickleTables::text(PickleValue value) const {
  if (value.kind() != PickleKind::text) return std::nullopt;
  return texts_[value.text()];
}

}  // namespace fragcast
