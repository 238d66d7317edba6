#pragma once

#include <ostream>
#include <span>

#include "replay/search/study_placements.hpp"

namespace fragcast {

/// Writes what each placement leaves to others over time, a row per event: reserved memory, and
/// what of the device is free; empty where its size is not known.
void write_placements_csv(std::span<const PlacementStudy> studies, std::ostream& out);

}  // namespace fragcast
