#pragma once

#include <ostream>

#include "replay/explain/growth.hpp"

namespace fragcast {

/// Writes a row per growth, in exact bytes.
void write_growth_csv(const GrowthTable& table, const Trace& trace, std::ostream& out);

}  // namespace fragcast
