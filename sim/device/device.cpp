#include "sim/device/device.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "sim/core/check.hpp"

namespace fragcast {

Device::Device(const DeviceProfile& profile)
    : profile_{profile}, next_segment_{profile.first_segment}, next_range_{profile.first_range} {}

void Device::place_beyond(Address address) {
  next_segment_ = std::max(next_segment_, address);
  next_range_ = std::max(next_range_, address);
}

void Device::plan_segments(std::deque<PlannedSegment> plan) {
  planned_segments_ = std::move(plan);
  for (const PlannedSegment& planned : planned_segments_) {
    place_beyond(planned.address + planned.size);
  }
}

void Device::plan_ranges(std::deque<PlannedRange> plan) {
  planned_ranges_ = std::move(plan);
  for (const PlannedRange& planned : planned_ranges_) {
    planned_bases_.insert(planned.address);
    place_beyond(planned.address + planned.size);
  }
}

void Device::adopt(Extent place, Bytes charge) {
  occupy(place);
  used_ += charge;
}

bool Device::is_vacant(Extent place) const {
  const auto behind = occupied_.lower_bound(place.end());
  return behind == occupied_.begin() || std::prev(behind)->second <= place.begin;
}

// Two streams may have segments at one address (torch_npu's workspaces): the farther end counts.
// And where the size of the recorded device was only assumed, its ranges may have been shorter than
// those here: none reached the next one.
void Device::occupy(Extent place) {
  const auto next_base = planned_bases_.upper_bound(place.begin);
  Address& end = occupied_[place.begin];
  end = std::max(end, place.end());
  if (next_base != planned_bases_.end()) end = std::min(end, *next_base);
}

void Device::vacate(Address begin) { occupied_.erase(begin); }

std::optional<Address> Device::allocate_segment(Bytes size, Bytes unit) {
  const Bytes charge = round_up(size, std::max(unit, profile_.granularity));
  if (!has_room_for(charge)) return std::nullopt;
  used_ += charge;
  ++counters_.segments_allocated;
  counters_.segment_bytes_allocated += size;
  if (!planned_segments_.empty() && planned_segments_.front().size == size) {
    const Extent planned{planned_segments_.front().address, size};
    planned_segments_.pop_front();
    if (is_vacant(planned)) {
      occupy(planned);
      return planned.begin;
    }
  }
  const Address address = align_up(next_segment_, std::max(unit, profile_.granularity));
  next_segment_ = address + charge;
  occupy({address, size});
  return address;
}

void Device::free_segment(Extent segment, Bytes unit) {
  vacate(segment.begin);
  used_ -= round_up(segment.size, std::max(unit, profile_.granularity));
  ++counters_.segments_freed;
  counters_.segment_bytes_freed += segment.size;
  FRAGCAST_CHECK(used_ >= Bytes{0}, "more device memory freed than was allocated");
}

Address Device::reserve_range(Bytes size, const RangeOwner& owner) {
  ++counters_.ranges_reserved;
  const auto planned =
      std::find_if(planned_ranges_.begin(), planned_ranges_.end(), [&](const PlannedRange& range) {
        return range.owner == owner;
      });
  if (planned != planned_ranges_.end()) {
    const Extent place{planned->address, size};
    // A larger device than was recorded reserves more addresses than there are between two ranges.
    const bool fits = size < planned->size + profile_.range_alignment;
    planned_ranges_.erase(planned);
    if (fits && is_vacant({place.begin, Bytes{1}})) {
      occupy(place);
      return place.begin;
    }
  }
  const Address address = align_up(next_range_, profile_.range_alignment);
  next_range_ = address + round_up(size, profile_.range_alignment);
  occupy({address, size});
  return address;
}

void Device::release_range(Address base) {
  vacate(base);
  ++counters_.ranges_released;
}

bool Device::create_pages(std::int64_t count, Bytes page_size) {
  const Bytes charge = charge_of(page_size);
  const bool limited = profile_.capacity == Capacity::limited;
  const std::int64_t possible = limited ? std::min(count, free() / charge) : count;
  counters_.pages_created += possible;
  counters_.page_bytes_created += possible * page_size;
  if (possible < count) {
    counters_.pages_destroyed += possible;
    counters_.page_bytes_destroyed += possible * page_size;
    return false;
  }
  used_ += count * charge;
  return true;
}

void Device::destroy_pages(std::int64_t count, Bytes page_size) {
  used_ -= count * charge_of(page_size);
  counters_.pages_destroyed += count;
  counters_.page_bytes_destroyed += count * page_size;
  FRAGCAST_CHECK(used_ >= Bytes{0}, "more device memory freed than was allocated");
}

}  // namespace fragcast
