#include "policies/caching/setting_numbers.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

namespace fragcast {
namespace {

template <class Number>
void warn_of_rest(const SettingKey& key,
                  const std::string& word,
                  Number number,
                  ParsedSettings& into) {
  into.warnings.push_back(
      fmt::format("{}: '{}' is read as {}: the allocator ignores what follows the number",
                  key.name,
                  word,
                  number));
}

void warn_of_oddities(const SettingKey& key,
                      const std::string& word,
                      const char* end,
                      std::uint64_t number,
                      ParsedSettings& into) {
  if (word.front() == '-') {
    into.warnings.push_back(
        fmt::format("{}: '{}' wraps around to {}: leave the sign out", key.name, word, number));
  } else if (*end != '\0') {
    warn_of_rest(key, word, number, into);
  }
}

}  // namespace

std::optional<std::uint64_t> read_whole(const SettingKey& key,
                                        const std::string& word,
                                        ParsedSettings& into) {
  char* end = nullptr;
  errno = 0;
  const std::uint64_t number = std::strtoull(word.c_str(), &end, 10);
  if (end == word.c_str() || errno == ERANGE) return std::nullopt;
  warn_of_oddities(key, word, end, number, into);
  return number;
}

std::optional<std::uint64_t> read_int(const SettingKey& key,
                                      const std::string& word,
                                      ParsedSettings& into) {
  char* end = nullptr;
  errno = 0;
  const long number = std::strtol(word.c_str(), &end, 10);
  if (end == word.c_str() || errno == ERANGE || !std::in_range<int>(number)) return std::nullopt;
  const auto wrapped = static_cast<std::uint64_t>(number);
  warn_of_oddities(key, word, end, wrapped, into);
  return wrapped;
}

std::optional<double> read_decimal(const SettingKey& key,
                                   const std::string& word,
                                   ParsedSettings& into) {
  char* end = nullptr;
  errno = 0;
  const double number = std::strtod(word.c_str(), &end);
  if (end == word.c_str() || errno == ERANGE) return std::nullopt;
  if (*end != '\0') warn_of_rest(key, word, number, into);
  return number;
}

SettingsRefusal not_a_number(const SettingKey& key) {
  return {fmt::format("{} needs {}, such as {}:{}", key.name, key.wants, key.name, key.example)};
}

}  // namespace fragcast
