#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "replay/formats/pickle/value.hpp"
#include "replay/formats/recording.hpp"

namespace fragcast {

/// A block as a snapshot tells it, before its segment is known.
struct BlockDraft {
  RecordedBlock block;
  /// Some writers leave addresses out: then each block begins where the one before ends.
  bool has_address = false;
};

/// A segment with its device, and where in the file it was.
struct SegmentDraft {
  RecordedSegment segment;
  int device = 0;
  std::uint64_t begin = 0;
};

/// Collects blocks until their segment takes them, a list at a time.
class BlockDrafts {
 public:
  /// A handle for the block; none if there are too many.
  [[nodiscard]] std::optional<PickleValue> add(const BlockDraft& draft);
  /// The handle of a list of blocks; none if one of them is in another list already.
  [[nodiscard]] std::optional<PickleValue> close(std::span<const PickleValue> blocks);
  /// The blocks of such a list, which is empty from then on.
  [[nodiscard]] std::vector<BlockDraft> take(std::uint64_t list) {
    return std::exchange(lists_[list], {});
  }

 private:
  std::vector<BlockDraft> current_;
  std::vector<std::vector<BlockDraft>> lists_;
};

/// Gives the blocks to the segment. They must tile it: returns what is wrong if they do not.
[[nodiscard]] std::optional<std::string> place_blocks(RecordedSegment& segment,
                                                      std::span<const BlockDraft> drafts);

/// The first segment, of those sorted by `begin`, that overlaps another of its device and stream.
[[nodiscard]] const SegmentDraft* find_overlap(std::span<const SegmentDraft> segments);

}  // namespace fragcast
