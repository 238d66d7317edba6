#pragma once

#include <cstdint>

#include "replay/formats/pickle/value.hpp"

namespace fragcast {

/// What the finished objects of a snapshot are replaced by in its pickle. The payload is a number
/// of the kind said here.
enum class Handle : std::uint8_t {
  opaque = static_cast<std::uint8_t>(PickleKind::first_handle),  ///< of no use to us
  broken,      ///< something wrong, which matters only where it is used (SnapshotFields)
  empty_list,  ///< of anything
  frame,       ///< FrameId
  stack,       ///< StackId, from a list of frames
  entry,       ///< an entry of a history (Histories)
  history,     ///< a list of entries (Histories)
  past_use,    ///< a block's earlier use, as torch 2.0 wrote it
  past_uses,   ///< a list of these; the number is its first item's, the latest
  block,       ///< a block that is in no list yet
  blocks,      ///< a list of blocks
  segment,     ///< a segment
  annotation,  ///< an annotation
  pool,        ///< index into Recording::pools
  divisions,   ///< the divisions of the settings
  settings,    ///< the settings
  list,        ///< a list of histories, segments or annotations
};

[[nodiscard]] constexpr PickleValue make_handle(Handle handle, std::uint64_t number = 0) {
  return {static_cast<PickleKind>(handle), number};
}

[[nodiscard]] constexpr bool is(PickleValue value, Handle handle) {
  return value.kind() == static_cast<PickleKind>(handle);
}

/// A number in two parts: of a sequence, and of a place in it.
struct SplitNumber {
  static constexpr std::uint64_t most_sequences = std::uint64_t{1} << 24;
  static constexpr std::uint64_t most_places = std::uint64_t{1} << 32;

  std::uint64_t sequence = 0;
  std::uint64_t place = 0;

  [[nodiscard]] constexpr std::uint64_t joined() const { return sequence << 32 | place; }
  [[nodiscard]] static constexpr SplitNumber of(PickleValue value) {
    return {.sequence = value.payload() >> 32, .place = value.payload() & (most_places - 1)};
  }
};

}  // namespace fragcast
