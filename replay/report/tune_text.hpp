#pragma once

#include <ostream>

#include "replay/report/comparison_text.hpp"
#include "replay/report/emphasis.hpp"
#include "replay/search/tune.hpp"

namespace fragcast {

/// What a search found, for people: the front, how robust its recommendation is, what advice in
/// circulation comes to, a verdict, and the recommendation as a line to paste.
void write_text(const Tuning& tuning, TextDetail detail, Emphasis emphasis, std::ostream& out);

}  // namespace fragcast
