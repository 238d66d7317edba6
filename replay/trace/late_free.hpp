#pragma once

#include <cstddef>

#include "replay/formats/recording.hpp"
#include "replay/trace/recorded_conditions.hpp"
#include "sim/core/bytes.hpp"

namespace fragcast {

/// Whether a free that a history shows as completed at once must have waited for events all the
/// same, until the flush of the next request completed it. Both look alike, for such a flush
/// follows at once:
///
///     free_requested A, free_completed A, segment_free …, oom
///
/// It did wait if the request would have fitted into A: had A been free, it had got A. `index` is
/// the entry that requested the free, with its completion behind it; `reserved` is held then.
[[nodiscard]] bool waited_for_flush(const RecordedDevice& device,
                                    std::size_t index,
                                    Bytes reserved,
                                    const RecordedConditions& conditions);

}  // namespace fragcast
