#pragma once

#include "policies/registry.hpp"

namespace fragcast {

/// A model simple enough to predict by hand: each request gets a device segment of its own, of its
/// size rounded up to 2 MiB, and gives it back when freed. A block with recorded streams is given
/// back at the first allocation or `Synchronize` after their events are done. It starts warm, knows
/// private pools as a label, refuses the settings `refused`, and remarks on `odd`.
[[nodiscard]] const ModelEntry& toy_model();

}  // namespace fragcast
