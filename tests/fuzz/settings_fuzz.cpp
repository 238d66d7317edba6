#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "policies/caching/settings_parser.hpp"
#include "policies/registry.hpp"
#include "sim/core/check.hpp"

// The first line is a settings string at start, the rest a change at run time, of each release of
// each model. Whatever is accepted must have a canonical text that means the same.

namespace {

using namespace fragcast;

void check_round_trip(const SettingsGrammar& grammar, const AllocatorSettings& settings) {
  const SettingsResult again = parse_settings(grammar, canonical_text(grammar, settings));
  FRAGCAST_CHECK(std::holds_alternative<ParsedSettings>(again) &&
                     std::get<ParsedSettings>(again).settings == settings,
                 "the canonical text means something else");
}

void read_under(const SettingsGrammar& grammar, std::string_view text) {
  const std::size_t line_end = text.find('\n');
  const SettingsResult at_start = parse_settings(grammar, text.substr(0, line_end));
  if (!std::holds_alternative<ParsedSettings>(at_start)) return;
  const AllocatorSettings& settings = std::get<ParsedSettings>(at_start).settings;
  check_round_trip(grammar, settings);

  if (line_end == std::string_view::npos) return;
  const SettingsResult at_run_time =
      apply_runtime_settings(grammar, settings, text.substr(line_end + 1));
  if (std::holds_alternative<ParsedSettings>(at_run_time)) {
    check_round_trip(grammar, std::get<ParsedSettings>(at_run_time).settings);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  for (const ModelEntry& model : all_models()) {
    for (const ModelRelease& release : model.releases) {
      if (release.settings != nullptr) read_under(release.settings(), text);
    }
  }
  return 0;
}
