#pragma once

#include <string>

#include "sim/core/bytes.hpp"

namespace fragcast {

/// A size as the allocators' messages print it (format_size): `N bytes` up to 1024, then KiB, MiB
/// or GiB with two decimals; a unit is kept up to 1024 of it, inclusive.
[[nodiscard]] std::string message_size(Bytes size);

}  // namespace fragcast
