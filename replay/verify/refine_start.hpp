#pragma once

#include <cstddef>

#include "policies/registry.hpp"
#include "replay/trace/normalise.hpp"

namespace fragcast {

/// Enlarges blocks of the start whose sizes are uncertain, where a replay as recorded shows that
/// they must be larger: it places a request right behind such a block, and the recording did not.
/// Then the free block there was too small for the request, so more of it than was thought belongs
/// to the block before. Takes the least that explains it, and begins again, until a replay goes
/// through or goes astray for another reason.
///
///     as inferred   | A       | free: fits        |      the model places it here
///     in truth      | A          | free: too small |     and the allocator did not
///
/// Returns how often it enlarged a block, and notes it in `recording`. Costs nothing where every
/// size is certain.
std::size_t refine_start(Normalised& recording, const ModelEntry& model);

}  // namespace fragcast
