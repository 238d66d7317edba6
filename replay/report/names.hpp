#pragma once

#include <string_view>

#include "replay/engine/run.hpp"
#include "replay/engine/run_spec.hpp"

namespace fragcast {

/// What reports and JSON call them: `empty`, `warm`, `cold`, `cold_largest_first`.
[[nodiscard]] std::string_view name_of(Start start);
/// `completed`, `out_of_memory`, `refused`.
[[nodiscard]] std::string_view name_of(RunOutcome outcome);

}  // namespace fragcast
