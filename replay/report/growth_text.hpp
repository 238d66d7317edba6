#pragma once

#include <cstddef>
#include <optional>
#include <ostream>

#include "replay/explain/growth.hpp"
#include "sim/observe/layout.hpp"

namespace fragcast {

/// What of the table is shown.
struct GrowthSelection {
  /// Only those of this step; 0: of what lies before the first.
  std::optional<std::size_t> step;
  /// So many that ask for most, in order of the trace.
  std::size_t top = 40;
};

/// Writes the table, whether it settles, and what could have been avoided.
void write_growths(const GrowthTable& table,
                   const Trace& trace,
                   const GrowthSelection& selection,
                   std::ostream& out);

/// Writes one growth: its figures, and of `heap`, as it was before the request, the largest holes
/// with their neighbours.
void write_growth(const Growth& growth, const Trace& trace, const Layout& heap, std::ostream& out);

}  // namespace fragcast
