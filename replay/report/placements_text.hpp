#pragma once

#include <ostream>

#include "replay/report/emphasis.hpp"
#include "replay/search/study_placements.hpp"

namespace fragcast {

/// Writes the table of placements, the calls of those that matter, who pins what calls cannot give
/// back, and the verdict.
void write_placements(const PlacementStudy& study, Emphasis emphasis, std::ostream& out);

/// The verdict alone.
void write_verdict(const PlacementStudy& study, Emphasis emphasis, std::ostream& out);

}  // namespace fragcast
