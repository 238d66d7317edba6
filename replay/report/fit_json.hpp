#pragma once

#include <ostream>
#include <span>

#include "replay/search/fit.hpp"

namespace fragcast {

/// Writes studies as `fragcast.fit`, version 1. Keys may be added, never renamed or removed.
void write_json(std::span<const FitStudy> studies, std::ostream& out);

/// Writes what was tried, a row per setting and size: what comes of it and what it costs.
void write_fit_csv(std::span<const FitStudy> studies, std::ostream& out);

}  // namespace fragcast
