#pragma once

#include <cstddef>
#include <vector>

#include "replay/formats/recording.hpp"
#include "replay/trace/anomalies.hpp"
#include "replay/trace/note.hpp"
#include "replay/trace/recorded_conditions.hpp"
#include "replay/trace/recorded_history.hpp"
#include "replay/trace/recorded_names.hpp"
#include "replay/trace/trace.hpp"
#include "replay/trace/walk_back.hpp"

namespace fragcast {

/// One device of a recording as requests that can be replayed, and what is known beside them.
struct Normalised {
  /// Of a state-only recording: no events, and the final state as the initial one.
  Trace trace;
  HistoryKind kind = HistoryKind::full;
  /// What the trace's streams and pools are called in the recording.
  RecordedNames names;
  RecordedConditions conditions;
  RecordedHistory recorded;
  /// Memory outside the caching allocator; in no part of the trace.
  std::vector<Workspace> workspaces;
  AnomalyCounts anomalies;
  /// What was inferred and assumed beyond `conditions.evidence`, and what stays unknown.
  std::vector<Note> notes;
};

/// Makes a trace of one device's history: rebuilds the heap it began in, numbers the allocations,
/// and leaves out what the allocator did by itself.
///
/// The call stacks stay with the recording, which shares them between its devices: whoever needs
/// them in the trace moves or copies them there. Throws InputError where the recording contradicts
/// itself beyond what a snapshot under way explains, or stated settings are refused.
///
/// Entries alone do not always tell what memory was given back for; `verdicts` says what is known
/// better. `reconstruct` (replay/verify) finds that out.
[[nodiscard]] Normalised normalise(const Recording& recording,
                                   const RecordedDevice& device,
                                   const StatedConditions& stated,
                                   const RunVerdicts& verdicts = {});

}  // namespace fragcast
