// The key `roundup_power2_divisions`: one number for all sizes, or a list by size.
//
//     [256:1,512:2,>:8]        MiB        1 … 128 | 256 | 512 | 1024 … 32768
//                              divisions     1    |  1  |  2  |      8

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>

#include "policies/caching/setting_numbers.hpp"
#include "policies/caching/settings_readers.hpp"

namespace fragcast {
namespace {

using Divisions = decltype(AllocatorSettings::roundup_power2_divisions);

// From here on a division is wider than any request, and 32 bits hold it.
constexpr std::uint64_t most_divisions = std::uint64_t{1} << 31;

std::uint32_t capped(std::uint64_t divisions) {
  return static_cast<std::uint32_t>(std::min(divisions, most_divisions));
}

std::size_t interval_of(std::uint64_t size_mb) {
  const auto index = static_cast<std::size_t>(std::bit_width(size_mb) - 1);
  return std::min(index, Divisions{}.size() - 1);
}

using NumberReader = decltype(&read_whole);

/// How one version of torch reads the key.
struct Dialect {
  NumberReader read_divisions = nullptr;
  /// What `>` fills, from the interval of the entry before it on.
  enum class Rest : std::uint8_t { after_last_entry, from_last_entry } rest;
};

/// Reads a list, pair by pair. Separators are passed over unseen: the parser has looked at them
/// where upstream does.
class ListReader {
 public:
  ListReader(const Dialect& dialect, const SettingValue& value, ParsedSettings& into)
      : dialect_{dialect}, value_{value}, into_{into} {}

  std::optional<SettingsRefusal> run() {
    std::size_t i = 1;
    while (i < tokens().size() - 1) {
      if (i + 2 >= tokens().size() - 1) return not_a_number(value_.key);
      if (auto refusal = read_pair(tokens()[i], tokens()[i + 2])) return refusal;
      i += 4;
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::span<const std::string> tokens() const { return value_.tokens; }

  std::optional<SettingsRefusal> read_pair(const std::string& size, const std::string& count) {
    const auto divisions = dialect_.read_divisions(value_.key, count, into_);
    if (!divisions) return not_a_number(value_.key);
    if (*divisions != 0 && !std::has_single_bit(*divisions)) {
      return SettingsRefusal{
          "For roundups, the divisions has to be power of 2 or 0 to disable roundup "};
    }
    Divisions& all = into_.settings.roundup_power2_divisions;
    if (size == ">") {
      const std::size_t begin =
          dialect_.rest == Dialect::Rest::after_last_entry ? last_ + 1 : last_;
      std::fill(all.begin() + static_cast<std::ptrdiff_t>(begin), all.end(), capped(*divisions));
      return std::nullopt;
    }
    const auto boundary = read_whole(value_.key, size, into_);
    if (!boundary) return not_a_number(value_.key);
    if (!std::has_single_bit(*boundary)) {
      return SettingsRefusal{"For roundups, the intervals have to be power of 2 "};
    }
    last_ = interval_of(*boundary);
    if (first_) std::fill_n(all.begin(), last_, capped(*divisions));
    first_ = false;
    all[last_] = capped(*divisions);
    return std::nullopt;
  }

  const Dialect& dialect_;
  const SettingValue& value_;
  ParsedSettings& into_;
  std::size_t last_ = 0;
  bool first_ = true;
};

std::optional<SettingsRefusal> read(const Dialect& dialect,
                                    const SettingValue& value,
                                    ParsedSettings& into) {
  if (value.text() == "[") return ListReader{dialect, value, into}.run();
  const auto divisions = dialect.read_divisions(value.key, value.text(), into);
  if (!divisions) return not_a_number(value.key);
  if (!std::has_single_bit(*divisions)) {
    return SettingsRefusal{"For roundups, the divisions has to be power of 2 "};
  }
  into.settings.roundup_power2_divisions.fill(capped(*divisions));
  return std::nullopt;
}

}  // namespace

std::optional<SettingsRefusal> read_roundup_divisions(const SettingValue& value,
                                                      ParsedSettings& into) {
  return read({.read_divisions = read_whole, .rest = Dialect::Rest::after_last_entry}, value, into);
}

std::optional<SettingsRefusal> read_roundup_divisions_2_6(const SettingValue& value,
                                                          ParsedSettings& into) {
  return read({.read_divisions = read_int, .rest = Dialect::Rest::from_last_entry}, value, into);
}

std::string write_roundup_divisions(const AllocatorSettings& settings) {
  const Divisions& all = settings.roundup_power2_divisions;
  // The first entry speaks for all intervals up to its own, `>` for all after the last entry's or,
  // to torch 2.6, from it on: so the last one says what `>` says.
  const auto differs = [](std::uint32_t value) {
    return [value](std::uint32_t other) { return other != value; };
  };
  const auto head_end = std::find_if(all.begin(), all.end(), differs(all.front()));
  if (head_end == all.end()) return all.front() == 0 ? "off" : fmt::format("{}", all.front());
  const auto tail = std::find_if(all.rbegin(), all.rend(), differs(all.back())).base();

  std::string text = "[";
  const auto add = [&](auto entry) {
    text += fmt::format("{}:{},", std::uint64_t{1} << std::distance(all.begin(), entry), *entry);
  };
  add(std::prev(head_end));
  for (auto entry = head_end; entry <= tail; ++entry) {
    if (*entry != 0 || entry == tail) add(entry);
  }
  return text + fmt::format(">:{}]", all.back());
}

}  // namespace fragcast
