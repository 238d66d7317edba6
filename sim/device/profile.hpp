#pragma once

#include <cstdint>

#include "sim/core/address.hpp"
#include "sim/core/bytes.hpp"

namespace fragcast {

/// Whether a device can run out of memory.
enum class Capacity : std::uint8_t {
  limited,
  unlimited,  ///< the total is only what the allocator is told
};

/// What a device is, as plain data.
struct DeviceProfile {
  /// All of the device's memory; the allocator sees this as its total.
  Bytes total = 64_GiB;
  Capacity capacity = Capacity::limited;
  /// What of the total others hold: other processes, and this one outside the allocator.
  Bytes held_by_others;
  /// What every charge is rounded up to.
  Bytes granularity = 2_MiB;
  /// Where segments and, far apart, reserved address ranges begin.
  Address first_segment{std::uint64_t{1} << 44};
  Address first_range{std::uint64_t{1} << 45};
  /// What reserved address ranges are aligned and rounded up to.
  Bytes range_alignment = 1_GiB;
  /// Events complete when recorded; otherwise only when told, waited for or synchronised.
  bool instant_events = true;
};

}  // namespace fragcast
