#include "replay/formats/price_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <locale>
#include <optional>
#include <sstream>
#include <string_view>

#include "replay/formats/input_error.hpp"

namespace fragcast {
namespace {

/// A year of microseconds is more than any call takes, and sums of such prices stay finite.
constexpr double largest_number = 3.2e13;

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream input{line.substr(0, line.find('#'))};
  std::vector<std::string> words;
  for (std::string word; input >> word;) words.push_back(word);
  return words;
}

DeviceCall read_call(const std::string& word, const InputPosition& where) {
  std::string known;
  for (const DeviceCallName& name : device_call_names()) {
    if (word == name.name) return name.call;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name.name);
  }
  throw InputError{where, fmt::format("'{}' is no device call; known are {}", word, known)};
}

double read_number(const std::string& word, double least, const InputPosition& where) {
  std::istringstream input{word};
  input.imbue(std::locale::classic());
  double number = 0;
  const bool whole = (input >> number) && input.peek() == std::istringstream::traits_type::eof();
  if (!whole || !std::isfinite(number) || number < least || number > largest_number) {
    throw InputError{where, fmt::format("'{}' is not a number from {} on", word, least)};
  }
  return number;
}

PriceOverride read_line(const std::vector<std::string>& words, const InputPosition& where) {
  const DeviceCall call = read_call(words.front(), where);
  if (words.size() != 3 && words.size() != 5) {
    throw InputError{where,
                     fmt::format("{} needs two numbers, microseconds a call and per MiB, or four: "
                                 "also by what to divide and multiply them for the low and the "
                                 "high price",
                                 words.front())};
  }
  Price price{.fixed_us = read_number(words[1], 0, where),
              .us_per_mib = read_number(words[2], 0, where)};
  if (words.size() == 5) {
    price.low_divisor = read_number(words[3], 1, where);
    price.high_factor = read_number(words[4], 1, where);
  }
  return {.call = call, .price = price};
}

}  // namespace

std::vector<PriceOverride> read_prices(std::istream& input, const std::string& file) {
  std::vector<PriceOverride> prices;
  std::string line;
  for (std::uint64_t number = 1; std::getline(input, line); ++number) {
    const std::vector<std::string> words = words_of(line);
    if (words.empty()) continue;
    const InputPosition where{.file = file, .line = number, .byte = {}};
    const PriceOverride read = read_line(words, where);
    const bool again = std::any_of(
        prices.begin(), prices.end(), [&](const auto& other) { return other.call == read.call; });
    if (again) throw InputError{where, fmt::format("{} has a price already", words.front())};
    prices.push_back(read);
  }
  if (input.bad()) throw InputError{{.file = file, .line = {}, .byte = {}}, "cannot be read"};
  return prices;
}

std::vector<PriceOverride> read_price_file(const std::string& file) {
  std::ifstream input{file};
  if (!input) throw InputError{{.file = file, .line = {}, .byte = {}}, "cannot be read"};
  return read_prices(input, file);
}

std::string price_file_of(const KnownDevice& device) {
  std::string text = fmt::format(
      "# {}: {}{}\n# call, microseconds each, per MiB, low: divide by, "
      "high: multiply by\n",
      device.name,
      device.basis == PriceBasis::guess ? "a guess; " : "",
      device.summary);
  for (const DeviceCallName& name : device_call_names()) {
    const Price& price = device.prices[name.call];
    const bool ascend = device.runtime == DeviceRuntime::ascend;
    text += fmt::format("{:<14} {:>6.6g} {:>5.6g} {:>4.6g} {:>4.6g}  # {}\n",
                        name.name,
                        price.fixed_us,
                        price.us_per_mib,
                        price.low_divisor,
                        price.high_factor,
                        ascend ? name.ascend : name.cuda);
  }
  return text;
}

}  // namespace fragcast
