#pragma once

#include <iosfwd>
#include <span>

#include "replay/compare/comparison.hpp"

namespace fragcast {

/// Writes comparisons, one for each device of a file, as the JSON that
/// schemas/fragcast.comparison.v1.json describes: exact bytes, the same text for the same
/// comparisons. Keys may come to be added, none is renamed or dropped. What was no UTF-8 in the
/// file is replaced by U+FFFD.
void write_json(std::span<const Comparison> comparisons, std::ostream& output);

}  // namespace fragcast
