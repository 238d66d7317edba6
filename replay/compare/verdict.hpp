#pragma once

#include <string>
#include <vector>

#include "replay/compare/comparison.hpp"

namespace fragcast {

/// What a comparison comes to, in plain sentences: first whether it would have fitted, then what
/// the best row saves and which rows would make things worse, then what the answer rests on.
[[nodiscard]] std::vector<std::string> pass_verdict(const Comparison& comparison);

/// Why a row is refused, in the allocator's words, and in brackets the way out.
[[nodiscard]] std::string describe_refusal(const ComparedRun& row);

}  // namespace fragcast
