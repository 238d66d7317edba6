#include "replay/cli/settings_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "policies/registry.hpp"

namespace fragcast {
namespace {

bool is_settings_key(const std::string& word) {
  for (const ModelEntry& model : all_models()) {
    for (const ModelRelease& release : model.releases) {
      for (const ModelOption& option : options_of(release)) {
        if (option.key == word) return true;
      }
    }
  }
  return false;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

NamedSettings parse_named_settings(const std::string& text, const InputPosition& where) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals > text.find(':')) {
    return {.name = text.empty() ? "default" : text, .text = text};
  }
  const std::string name = text.substr(0, equals);
  const std::string settings = text.substr(equals + 1);
  if (name.empty()) throw InputError{where, fmt::format("'{}' has an empty name", text)};
  if (is_settings_key(name)) {
    throw InputError{where,
                     fmt::format("settings are written with a colon: {}:{}", name, settings)};
  }
  return {.name = name, .text = settings};
}

std::vector<NamedSettings> read_settings_file(const std::string& file) {
  std::ifstream input{file};
  if (!input) throw InputError{{.file = file, .line = {}, .byte = {}}, "cannot be read"};
  std::vector<NamedSettings> all;
  std::string line;
  for (std::uint64_t number = 1; std::getline(input, line); ++number) {
    const std::string text = trimmed(line);
    if (text.empty() || text.front() == '#') continue;
    all.push_back(parse_named_settings(text, {.file = file, .line = number, .byte = {}}));
  }
  if (input.bad()) throw InputError{{.file = file, .line = {}, .byte = {}}, "cannot be read"};
  return all;
}

}  // namespace fragcast
