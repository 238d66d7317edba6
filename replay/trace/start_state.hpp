#pragma once

#include <vector>

#include "replay/formats/recording.hpp"
#include "replay/trace/ranges.hpp"
#include "replay/trace/recorded_conditions.hpp"
#include "replay/trace/recorded_names.hpp"
#include "replay/trace/start_blocks.hpp"
#include "replay/trace/walk_back.hpp"
#include "sim/observe/layout.hpp"

namespace fragcast {

/// The heap in which a history begins.
struct StartState {
  /// In order of stream and address; the n-th is allocation n of the trace.
  std::vector<SizedBlock> blocks;
  /// As InitialState::heap: what is not a block of use is one free block between two.
  Layout heap;
  /// What `heap` shows as segments, to be followed forwards; every stretch has its kind.
  ReservedMemory reserved;
  /// The expandable ranges alive at the beginning.
  LiveRanges ranges;
};

/// Rebuilds the heap at the beginning from what the walk back found; takes `walked.reserved` and
/// counts anomalies there.
///
/// What stays unknown: the ages of free blocks, streams recorded on live blocks, cached physical
/// pages, and which private pools were still in use.
[[nodiscard]] StartState rebuild_start(WalkedBack& walked,
                                       const RecordedDevice& device,
                                       const RecordedNames& names,
                                       const RecordedConditions& conditions);

}  // namespace fragcast
