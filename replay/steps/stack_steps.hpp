#pragma once

#include <optional>

#include "replay/trace/trace.hpp"

namespace fragcast {

/// Steps by call stacks. A loop's own frame keeps its line, so it marks nothing; but the lines of
/// what it calls start over:
///
///     train:24 > train_one_step:12   train_one_step:14 … :18 | train_one_step:12 …
///                step 1                                       step 2
///
/// The outermost function of the program itself whose lines go back to an earlier one is the body,
/// and the least line that they go back to begins a step. Requests without a stack belong where
/// they stand. Nothing if no function starts over, or the parts are so unlike (one has more than
/// four times the requests of the median) that they are an inner loop's.
[[nodiscard]] std::optional<Steps> steps_by_stacks(const Trace& trace, const CallStacks& stacks);

}  // namespace fragcast
