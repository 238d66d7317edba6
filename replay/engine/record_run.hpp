#pragma once

#include "replay/engine/run_spec.hpp"
#include "replay/formats/recording.hpp"
#include "replay/trace/recorded_names.hpp"
#include "replay/trace/trace.hpp"

namespace fragcast {

/// What a simulated device is called in a recording.
struct RecordedAs {
  int device = 0;
  /// Handles of streams and ids of pools; those beyond, and all of a call script, are named by their
  /// numbers.
  const RecordedNames& names;
};

/// Replays a trace and records it as torch would have recorded the run: the history from the
/// trace's first event on, the final state, the settings. What the trace began with shows in the
/// final state only, as in every recording that begins in the middle of a run. Throws InputError if
/// the model refuses the conditions.
///
/// Beyond what torch records, or in other ways:
/// * times are no times but places: microsecond N is `event:N` of what was replayed;
/// * the stack of a free is that of the allocation, as torch has it with `context="alloc"`;
/// * a request of which only the rounded size is known, as it failed when it was recorded, and which
///   was served, is recorded as the largest one that the allocator rounds to it.
///
/// The stacks stay with the trace: stack ids are its own, Recording::stacks is empty.
[[nodiscard]] Recording record_run(const Trace& trace,
                                   const RunConditions& conditions,
                                   const RecordedAs& as);

}  // namespace fragcast
