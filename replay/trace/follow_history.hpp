#pragma once

#include "replay/formats/recording.hpp"
#include "replay/trace/anomalies.hpp"
#include "replay/trace/recorded_conditions.hpp"
#include "replay/trace/recorded_history.hpp"
#include "replay/trace/recorded_names.hpp"
#include "replay/trace/start_state.hpp"
#include "replay/trace/trace.hpp"
#include "replay/trace/walk_back.hpp"

namespace fragcast {

/// All that is known before a history is followed.
struct KnownStart {
  const Recording& recording;
  const RecordedDevice& device;
  const RecordedNames& names;
  const WalkedBack& walked;
  const RecordedConditions& conditions;
  const RunVerdicts& verdicts;
};

/// Follows a history from its beginning to its end and writes what was asked of the allocator as
/// the events of `trace`: allocations by number, frees, delayed frees and where they completed,
/// private pools, `empty_cache` calls. What the allocator did by itself is left out. Fills the
/// allocations, `initial` and `addresses` of the trace as well; takes the start's heap.
///
/// Returns what was recorded; counts in `anomalies` what does not fit together.
[[nodiscard]] RecordedHistory follow_history(const KnownStart& known,
                                             StartState start,
                                             Trace& trace,
                                             AnomalyCounts& anomalies);

}  // namespace fragcast
