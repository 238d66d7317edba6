#pragma once

#include <ostream>
#include <span>

#include "replay/search/study_placements.hpp"

namespace fragcast {

/// Writes studies as `fragcast.placements`, version 1. Keys may be added, never renamed or removed.
void write_json(std::span<const PlacementStudy> studies, std::ostream& out);

}  // namespace fragcast
