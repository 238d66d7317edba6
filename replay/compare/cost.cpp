#include "replay/compare/cost.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace fragcast {
namespace {

/// How many calls of one kind, and about how much memory.
struct Volume {
  DeviceCall call = DeviceCall::segment_alloc;
  std::int64_t count = 0;
  Bytes size;
};

/// All calls but synchronisations. A map or unmap of a page of 1 GiB changes one entry of the page
/// table where 512 smaller ones would be changed, so its size costs nothing.
std::array<Volume, device_call_kinds - 1> volumes(const RunCounts& counts) {
  using enum DeviceCall;
  const Bytes mapped = counts.bytes_mapped - counts.gigabyte_pages_mapped * 1_GiB;
  const Bytes unmapped = counts.bytes_unmapped - counts.gigabyte_pages_unmapped * 1_GiB;
  return {{{segment_alloc, counts.segment_allocs, counts.segment_bytes_allocated},
           {segment_free, counts.segment_frees, counts.segment_bytes_freed},
           {range_reserve, counts.ranges_reserved, Bytes{0}},
           {range_release, counts.ranges_released, Bytes{0}},
           {page_create, counts.pages_created, counts.page_bytes_created},
           {page_destroy, counts.pages_destroyed, counts.page_bytes_destroyed},
           {page_map, counts.pages_mapped, mapped},
           {access_set, counts.maps, counts.bytes_mapped},
           {page_unmap, counts.pages_unmapped, unmapped},
           {event_record, counts.events_recorded, Bytes{0}},
           {event_query, counts.event_queries, Bytes{0}}}};
}

struct Unit {
  Microseconds size;
  std::string_view name;
};

Unit unit_for(Microseconds time) {
  constexpr std::array<Unit, 3> larger{
      {{Microseconds{1e6}, "s"}, {Microseconds{1e3}, "ms"}, {Microseconds{1}, "us"}}};
  for (const Unit& unit : larger) {
    // From 999.5 on, rounding would show 1000 of a unit.
    if (time >= 0.9995 * unit.size) return unit;
  }
  return larger.back();
}

/// Three significant figures, below 1000 without a decimal more than that takes.
std::string figures(double amount) {
  if (amount == 0) return "0";
  int decimals = 2;
  for (double scale = 0.9995; amount < scale && decimals < 6; scale /= 10) ++decimals;
  if (amount >= 9.995) decimals = 1;
  if (amount >= 99.95) decimals = 0;
  return fmt::format("{:.{}f}", amount, decimals);
}

}  // namespace

CostEstimate estimate(const RunCounts& counts, const PriceList& prices) {
  CostEstimate cost;
  for (const Volume& volume : volumes(counts)) {
    const Price& price = prices[volume.call];
    cost.low += price.of(volume.count, volume.size, PriceLevel::low);
    cost.mid += price.of(volume.count, volume.size, PriceLevel::mid);
    cost.high += price.of(volume.count, volume.size, PriceLevel::high);
    if (price.waits == CallWaits::yes) cost.waits += volume.count;
  }
  const std::int64_t syncs = counts.syncs + counts.event_syncs;
  cost.waits += syncs;
  cost.idle_waits = prices[DeviceCall::sync].of(syncs, Bytes{0}, PriceLevel::mid);
  return cost;
}

Cheaper is_cheaper(const CostEstimate& a, const CostEstimate& b) {
  const bool always = a.low < b.low && a.mid < b.mid && a.high < b.high;
  if (always && a.waits <= b.waits) return Cheaper::yes;
  const bool never = a.low >= b.low && a.mid >= b.mid && a.high >= b.high;
  if (never && a.waits >= b.waits) return Cheaper::no;
  return Cheaper::unclear;
}

std::string human_duration(Microseconds time) {
  const Unit unit = unit_for(time);
  return fmt::format("{} {}", figures(time / unit.size), unit.name);
}

std::string human_cost(const CostEstimate& cost) {
  if (cost.mid == Microseconds{0}) return human_duration(cost.mid);
  const Unit unit = unit_for(cost.mid);
  return fmt::format("{} ({}..{})",
                     human_duration(cost.mid),
                     figures(cost.low / unit.size),
                     figures(cost.high / unit.size));
}

}  // namespace fragcast
