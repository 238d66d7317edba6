#pragma once

#include "replay/trace/trace.hpp"

namespace fragcast {

/// The trace with every request `factor` times as large, to the nearest byte and at least 1 byte
/// where it was any: another batch of the same program. What lived before the first event stays as
/// it was. The device addresses of the recording go: they belong to what was recorded.
[[nodiscard]] Trace scale_sizes(const Trace& trace, double factor);

}  // namespace fragcast
