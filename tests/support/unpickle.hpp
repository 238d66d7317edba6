#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace fragcast {

/// What a pickle holds, with shared objects copied wherever they are referred to. Understands what
/// memory_viz's `unpickle` (MemoryViz.js) does and no more: protocols 2 to 4, plain data, batches
/// that it can spread. Throws std::invalid_argument for anything else, such as a global.
[[nodiscard]] nlohmann::json unpickle(std::string_view pickle);

}  // namespace fragcast
