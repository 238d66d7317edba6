#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "policies/caching/npu_settings.hpp"
#include "policies/caching/settings_parser.hpp"
#include "sim/core/check.hpp"

// The first line is a settings string at start, the rest a change at run time. Whatever is accepted
// must have a canonical text that means the same.

namespace {

using namespace fragcast;

void check_round_trip(const AllocatorSettings& settings) {
  const SettingsGrammar& grammar = npu_settings_grammar();
  const SettingsResult again = parse_settings(grammar, canonical_text(grammar, settings));
  FRAGCAST_CHECK(std::holds_alternative<ParsedSettings>(again) &&
                     std::get<ParsedSettings>(again).settings == settings,
                 "the canonical text means something else");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const std::size_t line_end = text.find('\n');

  const SettingsResult at_start = parse_settings(npu_settings_grammar(), text.substr(0, line_end));
  if (!std::holds_alternative<ParsedSettings>(at_start)) return 0;
  const AllocatorSettings& settings = std::get<ParsedSettings>(at_start).settings;
  check_round_trip(settings);

  if (line_end == std::string_view::npos) return 0;
  const SettingsResult at_run_time =
      apply_runtime_settings(npu_settings_grammar(), settings, text.substr(line_end + 1));
  if (std::holds_alternative<ParsedSettings>(at_run_time)) {
    check_round_trip(std::get<ParsedSettings>(at_run_time).settings);
  }
  return 0;
}
