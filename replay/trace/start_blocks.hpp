#pragma once

#include <vector>

#include "replay/formats/recording.hpp"
#include "replay/trace/recorded_conditions.hpp"
#include "replay/trace/recorded_names.hpp"
#include "replay/trace/walk_back.hpp"
#include "sim/core/bytes.hpp"

namespace fragcast {

/// Leaves out the blocks of the final state that cannot have lived through the history: it
/// allocated memory where they lie, so they came after it. Counts them.
void drop_later_blocks(WalkedBack& walked,
                       const RecordedDevice& device,
                       const RecordedNames& names);

/// A block of the beginning, with its size.
struct SizedBlock {
  StartBlock block;
  Bytes size;
  /// The size is in no entry of the file.
  bool inferred = false;
  /// Behind it lay a free block, and the history does not show where that began: the block may be
  /// up to 1 MiB larger.
  bool uncertain = false;
};

/// Gives every block of the beginning its size. Where the file does not have it, the split rules
/// leave no choice: the rounded request, and in a plain large segment also what lies up to the next
/// block, if that is at most 1 MiB and so was never split off.
///
///     | A (rounded) | rest <= 1 MiB | B ...          the rest is A's
///     | A (rounded) | rest | free ...                hidden: see below
///
/// The second case shows when the history first allocates from the free block: that allocation
/// starts where the free block does, so what lies between belongs to A. Blocks that lie in no
/// stretch of `walked.reserved` get one of their own there.
[[nodiscard]] std::vector<SizedBlock> size_start_blocks(WalkedBack& walked,
                                                        const RecordedDevice& device,
                                                        const RecordedNames& names,
                                                        const RecordedConditions& conditions);

}  // namespace fragcast
