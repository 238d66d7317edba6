#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "replay/formats/recording.hpp"
#include "replay/trace/address_map.hpp"
#include "replay/trace/anomalies.hpp"
#include "replay/trace/recorded_names.hpp"
#include "replay/trace/reserved_memory.hpp"
#include "sim/core/bytes.hpp"

namespace fragcast {

/// A block that was in use when the history begins.
struct StartBlock {
  BlockKey key;
  Bytes requested;
  /// Known if the block survives to the end, where the file has it; else to be inferred.
  std::optional<Bytes> size;
  StackId stack;
  /// Freed before the history begins, and waiting for events.
  bool pending = false;
  /// Nothing in the history frees it.
  bool survives = false;
};

/// A request that failed, and the state of things then.
struct RecordedFailure {
  std::size_t entry = 0;
  Bytes tried;
  Bytes device_free;
  Bytes reserved;
};

/// A block of torch_npu's workspace allocator, outside the caching allocator. Recordings list it in
/// front of the history and, falsely, as an idle segment.
struct Workspace {
  Extent extent;
  StreamId stream;
};

/// Whether a recording tells what happened, or only how things stood at its end. One entry is no
/// history: recording the state alone leaves it behind.
enum class HistoryKind : std::uint8_t { full, state_only };

/// What is known of the beginning of a history after going through it backwards from the final
/// state.
struct WalkedBack {
  HistoryKind kind = HistoryKind::full;
  /// Entries before this one are no history: they list workspaces.
  std::size_t first_entry = 0;
  std::vector<Workspace> workspaces;
  /// In use at the beginning, in order of stream and address.
  std::vector<StartBlock> blocks;
  /// Held at the beginning.
  ReservedMemory reserved;
  /// The most that was held at any time.
  Bytes peak_reserved;
  /// In order of time.
  std::vector<RecordedFailure> failures;
  /// Entries that made memory of a private pool, in order of time, with the pool as the final state
  /// has it; only where entries do not say it themselves.
  std::vector<std::pair<std::size_t, PoolId>> private_growths;
  /// Whether the history leaves out one half of each free (torch's `skip_actions`): the other then
  /// stands for both.
  bool leaves_requests_out = false;
  bool leaves_completions_out = false;
  AnomalyCounts anomalies;
};

/// Goes backwards through the history of a device: MemoryViz's `process_alloc_data` finds the live
/// blocks of a beginning in the same way. Sizes and addresses that no device could have, and blocks
/// that overlap in the final state, are InputErrors.
[[nodiscard]] WalkedBack walk_back(const Recording& recording,
                                   const RecordedDevice& device,
                                   const RecordedNames& names);

}  // namespace fragcast
