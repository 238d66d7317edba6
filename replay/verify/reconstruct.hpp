#pragma once

#include "replay/formats/recording.hpp"
#include "replay/trace/normalise.hpp"

namespace fragcast {

/// Normalises one device's history, and lets replays decide what its entries alone do not tell:
///
/// * which blocks of the start were larger than their requests (see `refine_start`);
/// * where memory was given back, whether the program called `empty_cache` or the request behind it
///   made room for itself, and how. Both can leave the same entries; but what a collection of
///   garbage takes depends on ages, and what a request finds on all free blocks. Where a replay
///   goes astray, the runs of releases just before (and a free that a flush may have completed) are
///   taken for something else, and what lets the replay get farther is kept.
///
/// Without a model of the recorded allocator it is `normalise`. Notes say what was decided. Throws
/// as `normalise` does.
[[nodiscard]] Normalised reconstruct(const Recording& recording,
                                     const RecordedDevice& device,
                                     const StatedConditions& stated);

}  // namespace fragcast
