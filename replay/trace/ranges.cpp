#include "replay/trace/ranges.hpp"

#include <algorithm>
#include <iterator>

#include "policies/caching/sizes.hpp"

namespace fragcast {

PoolKind kind_of_map(Bytes size) {
  return size <= sizes::small_segment ? PoolKind::small : PoolKind::large;
}

void Ranges::add(const RangeOwner& owner, Address mapped) { mapped_[owner].push_back(mapped); }

void Ranges::settle() {
  for (auto& [owner, addresses] : mapped_) {
    std::sort(addresses.begin(), addresses.end());
    std::vector<Address> bases;
    for (const Address address : addresses) {
      if (bases.empty() || address >= bases.back() + reach_) bases.push_back(address);
    }
    addresses = std::move(bases);
  }
}

Address Ranges::base_of(const RangeOwner& owner, Address address) const {
  const auto bases = mapped_.find(owner);
  if (bases == mapped_.end()) return address;
  const auto after = std::upper_bound(bases->second.begin(), bases->second.end(), address);
  return after == bases->second.begin() ? address : *std::prev(after);
}

std::optional<PoolKind> Ranges::kind_near(StreamId stream, PoolId pool, Address address) const {
  std::optional<PoolKind> below;
  std::optional<PoolKind> above;
  Bytes to_below = reach_;
  Bytes to_above = reach_;
  for (const PoolKind kind : {PoolKind::small, PoolKind::large}) {
    const auto owned = mapped_.find({.stream = stream, .pool = pool, .kind = kind});
    if (owned == mapped_.end()) continue;
    const std::vector<Address>& bases = owned->second;
    const auto after = std::upper_bound(bases.begin(), bases.end(), address);
    if (after != bases.begin() && address - *std::prev(after) < to_below) {
      to_below = address - *std::prev(after);
      below = kind;
    }
    if (after != bases.end() && *after - address < to_above) {
      to_above = *after - address;
      above = kind;
    }
  }
  return below ? below : above;
}

std::map<LiveRanges::Key, Bytes>::iterator LiveRanges::find(const RangeOwner& owner,
                                                            Address address) {
  auto it = mapped_.upper_bound({.owner = owner, .base = address});
  if (it == mapped_.begin()) return mapped_.end();
  --it;
  const bool inside = it->first.owner == owner && address < it->first.base + reach_;
  return inside ? it : mapped_.end();
}

bool LiveRanges::map(const RangeOwner& owner, Extent extent) {
  const auto range = find(owner, extent.begin);
  if (range != mapped_.end()) {
    range->second += extent.size;
    return false;
  }
  mapped_[{.owner = owner, .base = extent.begin}] = extent.size;
  return true;
}

void LiveRanges::unmap(const RangeOwner& owner, Extent extent) {
  const auto range = find(owner, extent.begin);
  if (range == mapped_.end()) return;
  range->second -= extent.size;
  if (range->second <= Bytes{0}) mapped_.erase(range);
}

void LiveRanges::adopt(const RangeOwner& owner, Address base, Bytes mapped) {
  mapped_[{.owner = owner, .base = base}] += mapped;
}

}  // namespace fragcast
