#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "sim/core/address.hpp"
#include "sim/core/bytes.hpp"
#include "sim/core/strong_id.hpp"
#include "sim/device/counters.hpp"
#include "sim/device/profile.hpp"
#include "sim/device/range_owner.hpp"
#include "sim/device/streams.hpp"

namespace fragcast {

/// The simulated device: sole owner of capacity, so sole source of out-of-memory, and the place
/// where every device call is counted.
///
///     total ─┬─ charged: segments, physical pages (mapped or cached)
///            ├─ held by others
///            └─ free
class Device {
 public:
  explicit Device(const DeviceProfile& profile);

  [[nodiscard]] const DeviceProfile& profile() const { return profile_; }
  [[nodiscard]] Bytes total() const { return profile_.total; }
  [[nodiscard]] Bytes used() const { return used_; }
  /// What is left of the total; nothing, where an unlimited device gave away more than that.
  [[nodiscard]] Bytes free() const {
    return std::max(profile_.total - profile_.held_by_others - used_, Bytes{0});
  }
  [[nodiscard]] const DeviceCounters& counters() const { return counters_; }
  void reset_counters() { counters_ = {}; }

  /// A segment of `size` bytes, charged and aligned in units of `unit`; nothing if its charge
  /// exceeds what is free.
  [[nodiscard]] std::optional<Address> allocate_segment(Bytes size, Bytes unit);
  void free_segment(Extent segment, Bytes unit);

  /// A range of addresses, without memory. Never fails, never reuses addresses.
  [[nodiscard]] Address reserve_range(Bytes size, const RangeOwner& owner);
  void release_range(Address base);

  /// `count` physical pages of `page_size`: all of them, or none where the device cannot. Pages
  /// that were made before the device ran out count as made and destroyed again.
  [[nodiscard]] bool create_pages(std::int64_t count, Bytes page_size);
  void destroy_pages(std::int64_t count, Bytes page_size);
  void map_pages(std::int64_t count, Bytes page_size) {
    counters_.maps += count;
    counters_.bytes_mapped += count * page_size;
    if (page_size == 1_GiB) counters_.gigabyte_maps += count;
  }
  void unmap_pages(std::int64_t count, Bytes page_size) {
    counters_.unmaps += count;
    counters_.bytes_unmapped += count * page_size;
    if (page_size == 1_GiB) counters_.gigabyte_unmaps += count;
  }

  [[nodiscard]] DeviceEvent record_event(StreamId stream) {
    ++counters_.events_recorded;
    return streams_.record(stream, profile_.instant_events);
  }
  /// Asks the device, which counts.
  [[nodiscard]] bool is_done(DeviceEvent event) {
    ++counters_.event_queries;
    return streams_.done(event);
  }
  /// Waits for one event, and so for the earlier ones of its stream.
  void wait_for(DeviceEvent event) {
    ++counters_.event_syncs;
    streams_.finish(event);
  }
  /// Waits for all work.
  void synchronize() {
    ++counters_.device_syncs;
    streams_.finish_all();
  }
  /// Waits for all work of one stream.
  void synchronize(StreamId stream) {
    ++counters_.stream_syncs;
    streams_.finish_all(stream);
  }
  /// The device finishes work by itself: no call, nothing counted.
  void complete_events(StreamId stream) { streams_.finish_all(stream); }
  void complete_all_events() { streams_.finish_all(); }
  [[nodiscard]] std::int64_t pending_events() const { return streams_.pending(); }

  /// Makes coming segments, and the first map of coming ranges, appear where a recording has them:
  /// best fit breaks ties by address, so a faithful replay needs them. A segment takes the front
  /// of the queue if the sizes agree, a range the first that is planned for its owner; otherwise,
  /// and where a replay that strayed still has something there, the device chooses: beyond all
  /// that is planned.
  struct PlannedSegment {
    Address address;
    Bytes size;
  };
  void plan_segments(std::deque<PlannedSegment> plan);
  struct PlannedRange {
    Address address;
    /// As far as the range reached when it was recorded.
    Bytes size;
    RangeOwner owner;
  };
  void plan_ranges(std::deque<PlannedRange> plan);

  /// Places what the device chooses to place by itself at or beyond `address` from now on.
  void place_beyond(Address address);

  /// Takes over what the model holds from before the replay began (a restored heap): a segment or
  /// range, and what its memory is charged.
  void adopt(Extent place, Bytes charge);

 private:
  [[nodiscard]] bool has_room_for(Bytes charge) const {
    return charge <= free() || profile_.capacity == Capacity::unlimited;
  }
  [[nodiscard]] bool is_vacant(Extent place) const;
  void occupy(Extent place);
  void vacate(Address begin);
  [[nodiscard]] Bytes charge_of(Bytes size) const { return round_up(size, profile_.granularity); }

  DeviceProfile profile_;
  Bytes used_;
  Address next_segment_;
  Address next_range_;
  DeviceCounters counters_;
  Streams streams_;
  /// The segments and ranges there are, each with its end.
  std::map<Address, Address> occupied_;
  std::deque<PlannedSegment> planned_segments_;
  std::deque<PlannedRange> planned_ranges_;
  std::set<Address> planned_bases_;
};

}  // namespace fragcast
