#pragma once

#include <string>

#include "sim/core/address.hpp"
#include "sim/core/bytes.hpp"
#include "sim/observe/layout.hpp"

namespace fragcast {

/// A size as short as it can be and still exact: `2M`, `512K`, `1G`, else plain bytes (`1049088`).
[[nodiscard]] std::string drawn_size(Bytes size);

/// How much is written of each block.
enum class BlockDetail : std::uint8_t {
  /// `[A 2M]`
  state_and_size,
  /// `[A17 2M/2097120]`: allocation 17 asked for 2,097,120 bytes. What was asked for is left out
  /// where it says nothing: a live block as large as that, a free block that had no user.
  everything,
};

/// One block: `A` allocated, `P` pending, `H` held back, `.` free.
[[nodiscard]] std::string draw(const BlockPicture& block,
                               BlockDetail detail = BlockDetail::state_and_size);

/// The blocks of one segment in order of address: `[A 2M][. 6M]`.
[[nodiscard]] std::string draw_blocks(const SegmentPicture& segment,
                                      BlockDetail detail = BlockDetail::state_and_size);

/// What a segment is, before its blocks: `0x100000000000 large stream 0`, then what applies of
/// ` pool 3`, ` pages 20M of 0x200000000000+72G` (expandable: the page size and the whole range)
/// and ` kept` (a flush passes over it).
[[nodiscard]] std::string draw_heading(const SegmentPicture& segment);

/// A heap, a line per segment: heading, `: `, blocks.
[[nodiscard]] std::string draw(const Layout& heap,
                               BlockDetail detail = BlockDetail::state_and_size);

/// The surroundings of an address, drawn with everything: the segment that holds it (or, if none
/// does, the two it lies between) and one neighbour on either side, each cut to a few blocks. The
/// segment and the block at the address are marked.
[[nodiscard]] std::string draw_around(const Layout& heap, Address address);

}  // namespace fragcast
