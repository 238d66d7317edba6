#pragma once

#include <string_view>

#include "sim/observe/layout.hpp"

namespace fragcast {

/// Reads what `draw(Layout)` writes: a line per segment, `HEADING: BLOCKS` or only blocks. Blanks
/// between blocks and at the ends of a line do not matter, empty lines are passed over.
///
///     0x100000000000 small stream 1 pool 2: [A7 512/300] [. 2096640]
///     pages 2M: [A 4M][. 2M]
///     [. 2M] [A 2M] [. 2M]
///
/// Every part of a heading may be left out: `large` and `stream 0` are meant then; an address
/// follows the segment before, aligned to 2 MiB; the range of an expandable segment is the segment
/// itself. A live block without a number takes the next after the largest so far, from 0; without
/// `/REQUESTED` it was asked for whole. Throws std::invalid_argument with the text it cannot read.
[[nodiscard]] Layout parse_layout(std::string_view text);

}  // namespace fragcast
