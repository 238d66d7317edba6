#pragma once

#include "sim/core/bytes.hpp"
#include "sim/observe/layout.hpp"

namespace fragcast {

/// Where the reserved bytes of a heap are. Every mapped byte is in exactly one part:
///
///     reserved = requested + rounding + pending + releasable + pinned
///
///     [A 5M of 6M]  [P 2M]   [. 4M] [. 20M]            (a segment's or page's border: ' ')
///      req. round.  pending  pinned  releasable: a whole segment or page, free
struct Fragmentation {
  /// Σ requested of the allocated blocks.
  Bytes requested;
  /// Σ (size − requested) of the allocated blocks: rounding, padding, and rests never split off.
  Bytes rounding;
  /// Σ size of blocks that were given back but are not usable yet (pending or held back).
  Bytes pending;
  /// What a flush could return to the device now: Σ size of segments that are free as a whole and,
  /// of expandable ranges, Σ of the whole pages inside each free block.
  Bytes releasable;
  /// Σ of all other free bytes: segments and pages partly in use, and everything free that a flush
  /// passes over (private pools in use).
  Bytes pinned;
  /// The largest free block, wherever it is. Not a part of the sum.
  Bytes largest_free;

  [[nodiscard]] Bytes reserved() const {
    return requested + rounding + pending + releasable + pinned;
  }
  bool operator==(const Fragmentation&) const = default;
};

/// Takes a heap apart; a pure function of the picture.
[[nodiscard]] Fragmentation measure_fragmentation(const Layout& heap);

/// The bytes of one segment (or mapped stretch) that a flush could return now.
[[nodiscard]] Bytes releasable_bytes(const SegmentPicture& segment);

}  // namespace fragcast
