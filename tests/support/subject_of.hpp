#pragma once

#include <string_view>

#include "replay/load/subject.hpp"

namespace fragcast {

/// What a call script is about, as if it had been read from a file `test.calls`.
[[nodiscard]] Subject subject_of(std::string_view script);

}  // namespace fragcast
