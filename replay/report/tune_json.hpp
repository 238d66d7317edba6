#pragma once

#include <iosfwd>

#include "replay/search/tune.hpp"

namespace fragcast {

/// Writes what a search found as the JSON that schemas/fragcast.tuning.v1.json describes: exact
/// bytes, the same text for the same search. Keys may come to be added, none is renamed or dropped.
void write_json(const Tuning& tuning, std::ostream& output);

}  // namespace fragcast
