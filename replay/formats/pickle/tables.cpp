#include "replay/formats/pickle/tables.hpp"

#include <cstddef>
#include <limits>

namespace fragcast {
namespace {

constexpr std::int64_t widest_inline = (std::int64_t{1} << 55) - 1;

}  // namespace

PickleValue PickleTables::make_integer(std::int64_t number) {
  if (number <= widest_inline && number >= -widest_inline) {
    return {PickleKind::integer, static_cast<std::uint64_t>(number)};
  }
  return make_wide(
      {.bits = static_cast<std::uint64_t>(number),
       .range = number < 0 ? WideInteger::Range::negative : WideInteger::Range::positive});
}

PickleValue PickleTables::make_integer(std::string_view twos_complement) {
  if (twos_complement.empty()) return make_integer(0);
  const bool negative = (static_cast<unsigned char>(twos_complement.back()) & 0x80) != 0;
  const unsigned char filler = negative ? 0xff : 0;
  std::uint64_t bits = negative ? std::numeric_limits<std::uint64_t>::max() : 0;
  bool fits = true;
  for (std::size_t i = twos_complement.size(); i-- > 0;) {
    const auto byte = static_cast<unsigned char>(twos_complement[i]);
    if (i >= sizeof bits) {
      fits = fits && byte == filler;
    } else {
      bits = bits << 8 | byte;
    }
  }
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

PickleValue PickleTables::make_real(double number) {
  reals_.push_back(number);
  return {PickleKind::real, reals_.size() - 1};
}

PickleValue PickleTables::make_text(std::string_view text) {
  return {PickleKind::text, texts.intern(text).value()};
}

std::optional<std::int64_t> PickleTables::integer(PickleValue value) const {
  if (value.kind() == PickleKind::integer) return value.signed_payload();
  if (value.kind() != PickleKind::wide_integer) return std::nullopt;
  const WideInteger& wide = wide_[value.payload()];
  const bool high_bit = (wide.bits >> 63) != 0;
  if (wide.range == WideInteger::Range::beyond_64_bits) return std::nullopt;
  if (wide.range == WideInteger::Range::positive && high_bit) return std::nullopt;
  return static_cast<std::int64_t>(wide.bits);
}

std::optional<std::uint64_t> PickleTables::word(PickleValue value) const {
  if (value.kind() == PickleKind::integer) {
    return static_cast<std::uint64_t>(value.signed_payload());
  }
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
  return texts[value.text()];
}

}  // namespace fragcast
