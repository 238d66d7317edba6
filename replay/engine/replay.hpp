#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "replay/engine/run.hpp"
#include "replay/engine/run_spec.hpp"
#include "replay/trace/trace.hpp"
#include "sim/observe/layout.hpp"

namespace fragcast {

class Session;

/// Whether a replay keeps the four amounts after every event: 32 bytes each.
enum class KeepSeries : std::uint8_t { no, yes };

/// Replays a trace on a model and measures it. Where reserved memory peaks the heap is taken apart,
/// for which the trace is replayed a second time up to there.
[[nodiscard]] Run replay(const Trace& trace,
                         const RunSpec& spec,
                         KeepSeries series = KeepSeries::no);

/// What a replay in progress has called so far.
[[nodiscard]] RunCounts counts_of(const Session& session);

/// Looks at a replay in progress; true ends it.
using Enough = std::function<bool(const Session& session)>;

/// A replay for a search over many: one pass, the heap at the peak is not taken apart. `enough` is
/// asked whenever reserved memory reaches a new peak, and every 1,024 events; nothing if it ended
/// the run.
[[nodiscard]] std::optional<Run> replay_unless(const Trace& trace,
                                               const RunSpec& spec,
                                               const Enough& enough);

/// `replay` of one trace for each spec, on up to `threads` threads (0: one per core). The result is
/// the same for any number of them.
[[nodiscard]] std::vector<Run> replay_all(const Trace& trace,
                                          std::span<const RunSpec> specs,
                                          KeepSeries series = KeepSeries::no,
                                          unsigned threads = 0);

/// The heap after the first `position` events, by replaying up to there. Empty if the model refuses
/// the conditions.
[[nodiscard]] Layout layout_at(const Trace& trace, const RunSpec& spec, std::size_t position);

}  // namespace fragcast
