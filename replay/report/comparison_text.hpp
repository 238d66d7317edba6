#pragma once

#include <ostream>

#include "replay/compare/comparison.hpp"
#include "replay/report/emphasis.hpp"

namespace fragcast {

/// How much of a comparison is printed.
enum class TextDetail : std::uint8_t { full, verdict_only };

/// A comparison for people: what was read, whether the model reproduces it, a table with a column
/// for each row of the comparison, who pins most, and the verdict.
void write_text(const Comparison& comparison,
                TextDetail detail,
                Emphasis emphasis,
                std::ostream& out);

/// The lines on what was read and what was inferred, as every command begins with.
void write_subject(const Subject& subject, std::ostream& out);

/// The line on how well a recording is reproduced.
[[nodiscard]] std::string describe(const Verification& verification);

}  // namespace fragcast
