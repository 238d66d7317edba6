#include "policies/caching/caching_model.hpp"

#include <utility>
#include <variant>

#include "policies/caching/caching_allocator.hpp"
#include "policies/caching/settings_parser.hpp"

namespace fragcast {

MadeModel make_caching_model(const CachingRules& rules, const std::string& text, Device& device) {
  SettingsResult result = parse_settings(*rules.settings, text);
  if (auto* refusal = std::get_if<SettingsRefusal>(&result)) {
    return {.model = nullptr, .refusal = std::move(refusal->reason), .warnings = {}};
  }
  auto& parsed = std::get<ParsedSettings>(result);
  return {.model = std::make_unique<CachingAllocator>(rules, parsed.settings, device),
          .refusal = {},
          .warnings = std::move(parsed.warnings)};
}

}  // namespace fragcast
