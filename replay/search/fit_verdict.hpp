#pragma once

#include "replay/search/fit.hpp"

namespace fragcast {

/// Fills in the study's sentences: the least size that works and under which setting, what it costs
/// in retries, where more memory does not help, and which known devices have as much free.
void say_what_fits(FitStudy& study);

}  // namespace fragcast
