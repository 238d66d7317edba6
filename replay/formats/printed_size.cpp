#include "replay/formats/printed_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "policies/caching/message_size.hpp"

namespace fragcast {
namespace {

struct Unit {
  std::string_view name;
  Bytes size;
};

constexpr std::array<Unit, 4> units{
    {{"bytes", 1_B}, {"KiB", 1_KiB}, {"MiB", 1_MiB}, {"GiB", 1_GiB}}};

/// More are no size that an allocator prints.
constexpr std::size_t most_digits = 20;
constexpr std::size_t most_decimals = 6;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// How many digits a text begins with.
std::size_t digits_at(std::string_view text) {
  const auto* end = std::find_if_not(text.begin(), text.end(), is_digit);
  return static_cast<std::size_t>(end - text.begin());
}

std::int64_t number_of(std::string_view digits) {
  std::int64_t number = 0;
  for (const char c : digits) number = number * 10 + (c - '0');
  return number;
}

/// What the digits of a size say: `whole` units and `part` of `parts` of one more.
struct Printed {
  std::int64_t whole = 0;
  std::int64_t part = 0;
  std::int64_t parts = 1;
};

/// All sizes in bytes that round to what is printed.
SizeRange rounding_range(const Printed& printed, const Unit& unit) {
  const Bytes whole = printed.whole * unit.size;
  if (unit.size == 1_B) return {.least = whole, .most = whole};
  const std::int64_t halves = 2 * printed.parts;
  const std::int64_t below = (2 * printed.part - 1) * unit.size.count();
  const std::int64_t above = (2 * printed.part + 1) * unit.size.count();
  // Division rounds towards zero: up, for what lies below zero.
  const std::int64_t least = below <= 0 ? below / halves : (below + halves - 1) / halves;
  // With more decimals than bytes there may be no such size: then the next one.
  const std::int64_t most = std::max(least, above / halves);
  return {.least = whole + Bytes{least}, .most = whole + Bytes{most}};
}

/// Without what would have been printed in another unit.
SizeRange within_unit(SizeRange range, const Unit& unit) {
  const Bytes least = unit.size == 1_B ? 0_B : unit.size + 1_B;
  const Bytes most = unit.size == 1_GiB ? largest_printed : 1024 * unit.size;
  const SizeRange narrowed{.least = std::max(range.least, least),
                           .most = std::min(range.most, most)};
  // A text that no allocator wrote, such as 0.50 GiB, still means something.
  return narrowed.least <= narrowed.most ? narrowed : at_least_zero(range);
}

struct UnitAt {
  const Unit* unit = nullptr;
  bool cut = false;
};

UnitAt unit_at(std::string_view text) {
  for (const Unit& unit : units) {
    if (text.starts_with(unit.name)) return {.unit = &unit};
    if (unit.name.starts_with(text)) return {.cut = true};
  }
  return {};
}

/// How long the number is that a text begins with, decimals included; none if there is no number.
struct NumberAt {
  std::size_t whole = 0;
  std::size_t decimals = 0;
  std::size_t length = 0;
};

std::optional<NumberAt> number_at(std::string_view text) {
  NumberAt number{.whole = digits_at(text)};
  if (number.whole == 0 || number.whole > most_digits) return std::nullopt;
  number.length = number.whole;
  if (number.length < text.size() && text[number.length] == '.') {
    number.decimals = digits_at(text.substr(number.length + 1));
    number.length += 1 + number.decimals;
  }
  if (number.decimals > most_decimals) return std::nullopt;
  return number;
}

PrintedSize size_of(std::string_view digits, const NumberAt& number, const Unit& unit) {
  PrintedSize size{.text = fmt::format("{} {}", digits, unit.name), .range = {}};
  // 18 digits fit into 64 bits, and more are too large anyway.
  const bool huge = number.whole > 18;
  Printed printed{.whole = huge ? 0 : number_of(digits.substr(0, number.whole))};
  size.impossible = huge || printed.whole > largest_printed / unit.size;
  if (size.impossible) return size;
  if (number.decimals > 0) printed.part = number_of(digits.substr(number.whole + 1));
  for (std::size_t i = 0; i < number.decimals; ++i) printed.parts *= 10;
  size.range = within_unit(rounding_range(printed, unit), unit);
  return size;
}

}  // namespace

SizeRange at_least_zero(SizeRange range) {
  return {.least = std::max(range.least, 0_B), .most = std::max(range.most, 0_B)};
}

SizeRange smaller(SizeRange a, SizeRange b) {
  return {.least = std::min(a.least, b.least), .most = std::min(a.most, b.most)};
}

std::string range_text(SizeRange range) {
  const auto text = [](Bytes size) {
    return fmt::format("{}{}", size < 0_B ? "-" : "", message_size(size < 0_B ? -size : size));
  };
  const std::string least = text(range.least);
  const std::string most = text(range.most);
  return least == most ? least : fmt::format("{}..{}", least, most);
}

PrintedSizeAt printed_size_at(std::string_view text) {
  using State = PrintedSizeAt::State;
  if (text.empty()) return {.state = State::cut, .size = {}};
  const auto number = number_at(text);
  if (!number) return {};
  const UnitAt found = unit_at(text.substr(number->length));
  if (found.cut) return {.state = State::cut, .size = {}};
  if (found.unit == nullptr) return {};
  return {.state = State::found,
          .size = size_of(text.substr(0, number->length), *number, *found.unit),
          .length = number->length + found.unit->name.size()};
}

}  // namespace fragcast
