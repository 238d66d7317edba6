#pragma once

#include "policies/caching/rules.hpp"
#include "policies/registry.hpp"

namespace fragcast {

/// The caching allocator under `rules`, with the settings that `text` gives it, or its refusal.
[[nodiscard]] MadeModel make_caching_model(const CachingRules& rules,
                                           const std::string& text,
                                           Device& device);

}  // namespace fragcast
