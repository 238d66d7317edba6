#include "policies/caching/message_size.hpp"

#include <fmt/format.h>

namespace fragcast {

std::string message_size(Bytes size) {
  const auto in = [size](Bytes unit) {
    return static_cast<double>(size.count()) / static_cast<double>(unit.count());
  };
  if (size <= 1_KiB) return fmt::format("{} bytes", size.count());
  if (size <= 1_MiB) return fmt::format("{:.2f} KiB", in(1_KiB));
  if (size <= 1_GiB) return fmt::format("{:.2f} MiB", in(1_MiB));
  return fmt::format("{:.2f} GiB", in(1_GiB));
}

}  // namespace fragcast
