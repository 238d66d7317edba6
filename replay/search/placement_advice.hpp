#pragma once

#include "replay/search/study_placements.hpp"

namespace fragcast {

/// Fills in which placement is recommended, and why. The one that completes and has the lowest peak
/// (of those within 1 % of it, the one that costs least at mid prices, then the one with fewest
/// calls) is, if its peak is at least 2 % lower than without any call, or if it completes and the
/// run without a call does not.
void advise(PlacementStudy& study);

}  // namespace fragcast
