#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "replay/formats/pickle/tables.hpp"

namespace fragcast {

/// The texts by which a snapshot is understood. They are interned before all others, so that a
/// text's number tells which of them it is.
enum class Word : std::uint8_t {
  // Top level.
  segments,
  device_traces,
  allocator_settings,
  external_annotations,
  // Keys of history entries.
  action,
  addr,
  device_free,
  size,
  stream,
  time_us,
  pool_id,
  frames,
  // Actions, in the order of RecordedAction.
  alloc,
  free_requested,
  free_completed,
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
  oom,
  snapshot,
  workspace_snapshot,
  annotate,
  // Keys of segments and blocks.
  device,
  address,
  total_size,
  segment_type,
  segment_pool_id,
  is_expandable,
  blocks,
  requested_size,
  state,
  history,
  real_size,
  // States of blocks. The last is what the documentation calls active_pending_free.
  active_allocated,
  active_pending_free,
  inactive,
  active_awaiting_free,
  // Types of segments.
  small,
  large,
  // Keys of frames and annotations, and the stages of these.
  name,
  filename,
  line,
  stage,
  start,
  end,
  // Keys of the settings.
  max_split_size,
  garbage_collection_threshold,
  expandable_segments,
  roundup_power2_divisions,
  // What only snapshots of simulated runs have there.
  fragcast_device_memory,
  fragcast_memory_fraction,
  fragcast_soc,
};
constexpr std::size_t word_count = static_cast<std::size_t>(Word::fragcast_soc) + 1;

/// Makes every Word, and every key of `means_nothing`, a text; `tables` must hold none yet.
void intern_words(PickleTables& tables);

/// Which word a text is, if any.
[[nodiscard]] inline std::optional<Word> word_of(PickleText text) {
  if (text.index() >= word_count) return std::nullopt;
  return static_cast<Word>(text.value());
}

/// Whether it is a key that torch writes and no replay needs, such as compile_context.
[[nodiscard]] bool means_nothing(PickleText key);

}  // namespace fragcast
