#pragma once

#include <ostream>

#include "replay/load/subject.hpp"
#include "sim/observe/fragmentation.hpp"

namespace fragcast {

/// What is in one device's part of a file, what was inferred from it, and what is missing.
void write_info(const Subject& subject, std::ostream& out);

/// Where the reserved bytes of a heap are, in one line per part.
void write_fragmentation(const Fragmentation& parts, std::ostream& out);

}  // namespace fragcast
