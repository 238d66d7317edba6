#include "replay/report/answer_difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace fragcast {
namespace {

// Keeps the keys in the order of the line.
using Json = nlohmann::ordered_json;

/// More would hide the first, which is the one that matters.
constexpr std::size_t most_values = 8;
constexpr std::size_t longest_value = 240;

/// One place where two answers are not the same; null where one has nothing there.
struct Finding {
  std::string path;
  const Json* expected = nullptr;
  const Json* actual = nullptr;
};

/// An array that is one thing rather than a list: a history entry, a block, a counter and its peak.
bool is_row(const Json& json) {
  return json.is_array() && std::all_of(json.begin(), json.end(), [](const Json& value) {
           return value.is_primitive();
         });
}

/// Walks two answers side by side.
class Finder {
 public:
  void compare(const std::string& path, const Json& expected, const Json& actual) {
    if (full() || expected == actual) return;
    if (expected.is_object() && actual.is_object()) return compare_keys(path, expected, actual);
    const bool lists = expected.is_array() && actual.is_array();
    if (lists && !(is_row(expected) && is_row(actual)))
      return compare_items(path, expected, actual);
    found_.push_back({.path = path, .expected = &expected, .actual = &actual});
  }
  [[nodiscard]] const std::vector<Finding>& found() const { return found_; }

 private:
  [[nodiscard]] bool full() const { return found_.size() >= most_values; }

  void compare_keys(const std::string& path, const Json& expected, const Json& actual) {
    const auto below = [&](const std::string& key) {
      return path.empty() ? key : path + "." + key;
    };
    for (const auto& [key, value] : expected.items()) {
      if (actual.contains(key)) {
        compare(below(key), value, actual[key]);
      } else if (!full()) {
        found_.push_back({.path = below(key), .expected = &value, .actual = nullptr});
      }
    }
    for (const auto& [key, value] : actual.items()) {
      if (full() || expected.contains(key)) continue;
      found_.push_back({.path = below(key), .expected = nullptr, .actual = &value});
    }
  }

  void compare_items(const std::string& path, const Json& expected, const Json& actual) {
    for (std::size_t i = 0; i < std::max(expected.size(), actual.size()) && !full(); ++i) {
      const std::string at = fmt::format("{}[{}]", path, i);
      if (i < expected.size() && i < actual.size()) {
        compare(at, expected[i], actual[i]);
      } else {
        found_.push_back({.path = at,
                          .expected = i < expected.size() ? &expected[i] : nullptr,
                          .actual = i < actual.size() ? &actual[i] : nullptr});
      }
    }
  }

  std::vector<Finding> found_;
};

/// Which private pools the stretches of memory belonged to that a history gives back, by address.
using PrivateReleases = std::map<std::uint64_t, PoolId>;

PrivateReleases private_releases(const EventLog& told) {
  PrivateReleases releases;
  for (const LogEntry& entry : told) {
    const bool release =
        entry.action == LogAction::segment_free || entry.action == LogAction::segment_unmap;
    if (release && entry.pool != PoolId{}) releases[entry.address.value()] = entry.pool;
  }
  return releases;
}

/// Within a run of private pools' releases the order between pools is a hash map's upstream: sort
/// it away, and keep the order within each pool.
class PoolOrder {
 public:
  explicit PoolOrder(const EventLog& told) : releases_{private_releases(told)} {}

  void sort_away(Json& answer) const {
    if (!answer.is_object() || !answer.contains("trace") || !answer["trace"].is_array()) return;
    Json& entries = answer["trace"];
    const auto is_private_release = [this](const Json& entry) {
      return pool_of(entry).has_value();
    };
    const auto by_pool = [this](const Json& a, const Json& b) { return pool_of(a) < pool_of(b); };
    for (auto first = entries.begin(); first != entries.end();) {
      first = std::find_if(first, entries.end(), is_private_release);
      const auto last = std::find_if_not(first, entries.end(), is_private_release);
      std::stable_sort(first, last, by_pool);
      first = last;
    }
  }

 private:
  /// Of an entry that says that a private pool gave something back.
  [[nodiscard]] std::optional<PoolId> pool_of(const Json& entry) const {
    if (entry.size() != 5 || !entry[1].is_number_unsigned()) return std::nullopt;
    if (entry[0] != "segment_free" && entry[0] != "segment_unmap") return std::nullopt;
    const auto found = releases_.find(entry[1].get<std::uint64_t>());
    return found != releases_.end() ? std::optional{found->second} : std::nullopt;
  }

  PrivateReleases releases_;
};

std::string shortened(const Json* json) {
  if (json == nullptr) return {};
  std::string text = json->dump();
  if (text.size() > longest_value) text = text.substr(0, longest_value) + "…";
  return text;
}

/// Two answers and where they differ.
struct ParsedPair {
  Json expected;
  Json actual;

  ParsedPair(std::string_view expected_line, std::string_view actual_line, const EventLog& told)
      : expected(Json::parse(expected_line, nullptr, false)),
        actual(Json::parse(actual_line, nullptr, false)) {
    if (!valid()) return;
    const PoolOrder order{told};
    order.sort_away(expected);
    order.sort_away(actual);
  }
  [[nodiscard]] bool valid() const { return !expected.is_discarded() && !actual.is_discarded(); }
  [[nodiscard]] std::vector<Finding> findings() const {
    Finder finder;
    finder.compare("", expected, actual);
    return finder.found();
  }
};

/// The address that a value is or tells about, if any: device addresses are far above all sizes and
/// counts of the recordings.
std::optional<Address> address_in(const Json* json) {
  constexpr std::uint64_t lowest = std::uint64_t{1} << 44;
  if (json == nullptr) return std::nullopt;
  if (json->is_number_unsigned() && json->get<std::uint64_t>() >= lowest) {
    return Address{json->get<std::uint64_t>()};
  }
  if (json->is_object() && json->contains("address")) return address_in(&(*json)["address"]);
  if (!is_row(*json)) return std::nullopt;
  for (const Json& value : *json) {
    if (const std::optional<Address> address = address_in(&value)) return address;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<AnswerDifference::Value>> differing_values(std::string_view expected,
                                                                     std::string_view actual,
                                                                     const EventLog& told) {
  const ParsedPair pair{expected, actual, told};
  if (!pair.valid()) return std::nullopt;
  std::vector<AnswerDifference::Value> values;
  for (const Finding& finding : pair.findings()) {
    values.push_back({.path = finding.path,
                      .expected = shortened(finding.expected),
                      .actual = shortened(finding.actual)});
  }
  return values;
}

std::vector<Address> addresses_concerned(std::string_view expected,
                                         std::string_view actual,
                                         const EventLog& told) {
  const ParsedPair pair{expected, actual, told};
  if (!pair.valid()) return {};
  std::vector<Address> addresses;
  for (const Finding& finding : pair.findings()) {
    for (const Json* side : {finding.expected, finding.actual}) {
      const std::optional<Address> address = address_in(side);
      if (address && std::find(addresses.begin(), addresses.end(), *address) == addresses.end()) {
        addresses.push_back(*address);
      }
    }
    if (!addresses.empty()) break;
  }
  return addresses;
}

}  // namespace fragcast
