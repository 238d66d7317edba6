#pragma once

#include <ostream>

#include "replay/report/emphasis.hpp"
#include "replay/search/fit.hpp"

namespace fragcast {

/// Writes a table with a column for each setting, what was searched, the holes, and the verdict.
void write_fit(const FitStudy& study, Emphasis emphasis, std::ostream& out);

/// The verdict alone.
void write_verdict(const FitStudy& study, Emphasis emphasis, std::ostream& out);

}  // namespace fragcast
