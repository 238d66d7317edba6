#include "replay/trace/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>

namespace fragcast {
namespace {

/// A decimal number in two halves, exactly: `fraction` counts units of 1/`denominator`.
struct Decimal {
  std::uint64_t whole = 0;
  std::uint64_t fraction = 0;
  std::uint64_t denominator = 1;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view take_digits(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  const std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

// 64 bits hold any whole number of 19 digits, and one of 18 with room to double it.
constexpr std::size_t most_whole_digits = 19;
constexpr std::size_t most_fraction_digits = 18;

std::optional<std::uint64_t> value_of(std::string_view digits, std::size_t most) {
  if (digits.size() > most) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : digits) value = value * 10 + static_cast<std::uint64_t>(c - '0');
  return value;
}

std::string lower_case(std::string_view text) {
  std::string lower{text};
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return lower;
}

/// The binary logarithm of a unit, by its name in lower case.
std::optional<int> unit_shift(const std::string& unit) {
  constexpr std::string_view prefixes = "kmgt";
  if (unit.empty() || unit == "b") return 0;
  const std::size_t prefix = prefixes.find(unit.front());
  if (prefix == std::string_view::npos) return std::nullopt;
  if (unit.size() > 1 && unit.substr(1) != "ib") return std::nullopt;
  return static_cast<int>(prefix + 1) * 10;
}

bool is_ambiguous(const std::string& unit) {
  return unit.size() == 2 && unit.back() == 'b' &&
         std::string_view{"kmgt"}.find(unit.front()) != std::string_view::npos;
}

/// `number` · 2^shift to the nearest whole, or nothing if that is beyond `largest_size`.
std::optional<Bytes> scaled(const Decimal& number, int shift) {
  if (number.whole > (static_cast<std::uint64_t>(largest_size.count()) >> shift)) {
    return std::nullopt;
  }
  // Long multiplication of the fraction, bit by bit: exact where floating point is not.
  std::uint64_t rest = number.fraction;
  std::uint64_t bits = 0;
  for (int i = 0; i < shift; ++i) {
    rest *= 2;
    bits = bits * 2 + (rest >= number.denominator ? 1 : 0);
    if (rest >= number.denominator) rest -= number.denominator;
  }
  if (rest * 2 >= number.denominator) ++bits;
  const Bytes size{static_cast<std::int64_t>((number.whole << shift) + bits)};
  return size <= largest_size ? std::optional{size} : std::nullopt;
}

[[noreturn]] void refuse(const InputPosition& where, const std::string& sentence) {
  throw InputError{where, sentence};
}

Decimal parse_decimal(std::string_view text, std::string_view& rest, const InputPosition& where) {
  rest = text;
  const std::string_view whole = take_digits(rest);
  if (whole.empty()) {
    refuse(where,
           fmt::format("'{}' is not a size: write bytes, or a number with a unit such as "
                       "512MiB",
                       text));
  }
  std::string_view fraction;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    fraction = take_digits(rest);
    if (fraction.empty()) refuse(where, fmt::format("'{}' lacks digits after the point", text));
  }
  const auto whole_value = value_of(whole, most_whole_digits);
  const auto fraction_value = value_of(fraction, most_fraction_digits);
  if (!whole_value) refuse(where, fmt::format("{} is beyond 4 EiB, the largest size", text));
  if (!fraction_value) {
    refuse(where, fmt::format("'{}' has too many digits after the point: 18 are read", text));
  }
  Decimal number{.whole = *whole_value, .fraction = *fraction_value, .denominator = 1};
  for (std::size_t i = 0; i < fraction.size(); ++i) number.denominator *= 10;
  return number;
}

}  // namespace

Bytes parse_size(std::string_view text, const InputPosition& where) {
  if (!text.empty() && text.front() == '-') {
    refuse(where, fmt::format("{} is negative: a size is not", text));
  }
  std::string_view rest;
  const Decimal number = parse_decimal(text, rest, where);
  if (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);

  const std::string unit = lower_case(rest);
  if (is_ambiguous(unit)) {
    const char prefix = static_cast<char>(std::toupper(static_cast<unsigned char>(unit.front())));
    refuse(where,
           fmt::format(
               "'{}' may mean two sizes: write {}iB for the binary unit, or bytes", text, prefix));
  }
  const auto shift = unit_shift(unit);
  if (!shift) {
    refuse(where, fmt::format("'{}' has no unit that is known: KiB, MiB, GiB and TiB are", text));
  }
  if (*shift == 0 && number.denominator > 1) {
    refuse(where, fmt::format("'{}' is a fraction of a byte: add a unit, such as GiB", text));
  }
  const auto size = scaled(number, *shift);
  if (!size) refuse(where, fmt::format("{} is beyond 4 EiB, the largest size", text));
  return *size;
}

std::string human_size(Bytes size) {
  constexpr std::array<std::string_view, 7> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  const std::string_view sign = size < Bytes{0} ? "-" : "";
  double amount = std::abs(static_cast<double>(size.count()));
  std::size_t unit = 0;
  // From 1023.5 on, rounding would show 1024 of a unit.
  while (amount >= 1023.5 && unit + 1 < units.size()) {
    amount /= 1024;
    ++unit;
  }
  const int decimals = unit == 0 || amount >= 99.95 ? 0 : amount >= 9.995 ? 1 : 2;
  return fmt::format("{}{:.{}f} {}", sign, amount, decimals, units[unit]);
}

std::string exact_bytes(Bytes size) { return grouped(size.count()) + " B"; }

std::string grouped(std::int64_t count) {
  std::string digits = fmt::format("{}", count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

}  // namespace fragcast
