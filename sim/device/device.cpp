#include "sim/device/device.hpp"

#include <algorithm>

#include "sim/core/check.hpp"

namespace fragcast {

Device::Device(const DeviceProfile& profile)
    : profile_{profile}, next_segment_{profile.first_segment}, next_range_{profile.first_range} {}

void Device::place_beyond(Address address) {
  next_segment_ = std::max(next_segment_, address);
  next_range_ = std::max(next_range_, address);
}

std::optional<Address> Device::allocate_segment(Bytes size, Bytes unit) {
  const Bytes charge = round_up(size, std::max(unit, profile_.granularity));
  if (!has_room_for(charge)) return std::nullopt;
  used_ += charge;
  ++counters_.segments_allocated;
  if (!planned_segments_.empty() && planned_segments_.front().size == size) {
    const Address planned = planned_segments_.front().address;
    planned_segments_.pop_front();
    return planned;
  }
  const Address address = align_up(next_segment_, std::max(unit, profile_.granularity));
  next_segment_ = address + charge;
  return address;
}

void Device::free_segment(Bytes size, Bytes unit) {
  used_ -= round_up(size, std::max(unit, profile_.granularity));
  ++counters_.segments_freed;
  FRAGCAST_CHECK(used_ >= Bytes{0}, "more device memory freed than was allocated");
}

Address Device::reserve_range(Bytes size) {
  ++counters_.ranges_reserved;
  if (!planned_ranges_.empty()) {
    const Address planned = planned_ranges_.front();
    planned_ranges_.pop_front();
    return planned;
  }
  const Address address = align_up(next_range_, profile_.range_alignment);
  next_range_ = address + round_up(size, profile_.range_alignment);
  return address;
}

bool Device::create_pages(std::int64_t count, Bytes page_size) {
  const Bytes charge = charge_of(page_size);
  const bool limited = profile_.capacity == Capacity::limited;
  const std::int64_t possible = limited ? std::min(count, free() / charge) : count;
  counters_.pages_created += possible;
  if (possible < count) {
    counters_.pages_destroyed += possible;
    return false;
  }
  used_ += count * charge;
  return true;
}

void Device::destroy_pages(std::int64_t count, Bytes page_size) {
  used_ -= count * charge_of(page_size);
  counters_.pages_destroyed += count;
  FRAGCAST_CHECK(used_ >= Bytes{0}, "more device memory freed than was allocated");
}

}  // namespace fragcast
