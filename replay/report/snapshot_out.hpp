#pragma once

#include <iosfwd>

#include "replay/compare/compare.hpp"
#include "replay/load/subject.hpp"

namespace fragcast {

/// Makes a simulation and writes it as a snapshot, as if it had been recorded: memory_viz,
/// MindStudio Insight and fragcast itself read it. Streams and pools keep their names, frames their
/// stacks. Throws InputError if the model refuses the conditions; nothing is written then.
void write_snapshot(const Subject& subject, const PreparedRun& prepared, std::ostream& output);

}  // namespace fragcast
