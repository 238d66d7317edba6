#pragma once

#include <ostream>

#include "replay/steps/step_table.hpp"
#include "replay/trace/steps.hpp"

namespace fragcast {

/// The steps of a trace as a table for people, and what marks them.
void write_steps(const Steps& steps, const StepTable& table, std::ostream& out);

}  // namespace fragcast
