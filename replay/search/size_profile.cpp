#include "replay/search/size_profile.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "policies/caching/settings.hpp"
#include "policies/caching/sizes.hpp"
#include "sim/core/dense_map.hpp"

namespace fragcast {
namespace {

bool shares_segments(Bytes block) {
  return pool_kind(block) == PoolKind::large && block < sizes::own_segment;
}

/// Follows what is live through a trace.
class LiveBytes {
 public:
  explicit LiveBytes(Bytes padding) : padding_{padding} {}

  void allocate(AllocationId id, Bytes size) {
    const Bytes block = block_of(size);
    note(block);
    sizes_[id] = size;
    change(size, block);
  }
  /// Lives for a moment only.
  void fail(Bytes block) {
    note(block);
    profile_.live_peak = std::max(profile_.live_peak, live_ + block);
  }
  void deallocate(AllocationId id) {
    const Bytes size = std::exchange(sizes_[id], Bytes{0});
    change(-size, block_of(size));
  }

  SizeProfile take() {
    for (const auto& [block, requests] : large_) {
      profile_.large.push_back({.block = block, .requests = requests});
    }
    return std::move(profile_);
  }

 private:
  [[nodiscard]] Bytes block_of(Bytes size) const {
    return size == Bytes{0} ? size : round_size(size, padding_, AllocatorSettings{});
  }
  void note(Bytes block) {
    if (pool_kind(block) == PoolKind::large) ++large_[block];
  }
  void change(Bytes size, Bytes block) {
    live_ += size;
    profile_.live_peak = std::max(profile_.live_peak, live_);
    if (!shares_segments(block)) return;
    shared_live_ += size;
    profile_.shared_live_peak = std::max(profile_.shared_live_peak, shared_live_);
  }

  Bytes padding_;
  DenseMap<AllocationId, Bytes> sizes_;
  std::map<Bytes, std::int64_t> large_;
  Bytes live_;
  Bytes shared_live_;
  SizeProfile profile_;
};

double bytes_of(const SizeClass& size_class) {
  return static_cast<double>(size_class.block.count()) * static_cast<double>(size_class.requests);
}

double bytes_of(const std::vector<SizeClass>& classes) {
  double sum = 0;
  for (const SizeClass& size_class : classes) sum += bytes_of(size_class);
  return sum;
}

}  // namespace

SizeProfile profile_sizes(const Trace& trace, Bytes padding) {
  LiveBytes live{padding};
  for (const SegmentPicture& segment : trace.initial.heap.segments) {
    for (const BlockPicture& block : segment.blocks) {
      if (block.allocation && block.state == BlockState::allocated) {
        live.allocate(*block.allocation, block.requested);
      }
    }
  }
  for (const Event& event : trace.events) {
    if (event.kind == EventKind::deallocate) live.deallocate(event.allocation);
    if (event.kind != EventKind::allocate) continue;
    if (event.failed_in_recording) {
      live.fail(event.size);
    } else {
      live.allocate(event.allocation, event.size);
    }
  }
  return live.take();
}

SizeProfile joined(const SizeProfile& a, const SizeProfile& b) {
  std::map<Bytes, std::int64_t> large;
  for (const SizeProfile* profile : {&a, &b}) {
    for (const SizeClass& size_class : profile->large) {
      large[size_class.block] += size_class.requests;
    }
  }
  SizeProfile both{.large = {},
                   .live_peak = std::max(a.live_peak, b.live_peak),
                   .shared_live_peak = std::max(a.shared_live_peak, b.shared_live_peak)};
  for (const auto& [block, requests] : large) {
    both.large.push_back({.block = block, .requests = requests});
  }
  return both;
}

std::vector<Bytes> byte_quantiles(const SizeProfile& profile, const std::vector<double>& shares) {
  std::vector<Bytes> quantiles;
  if (profile.large.empty()) return quantiles;
  const double all = bytes_of(profile.large);
  for (const double share : shares) {
    double below = 0;
    Bytes quantile = profile.large.back().block;
    for (const SizeClass& size_class : profile.large) {
      below += bytes_of(size_class);
      if (below < share * all) continue;
      quantile = size_class.block;
      break;
    }
    quantiles.push_back(quantile);
  }
  return quantiles;
}

std::vector<Bytes> sizes_above_gaps(const SizeProfile& profile, std::size_t count) {
  struct Gap {
    double weight = 0;
    Bytes above;
  };
  std::vector<Gap> gaps;
  const double all = bytes_of(profile.large);
  double below = 0;
  for (std::size_t i = 0; i + 1 < profile.large.size(); ++i) {
    below += bytes_of(profile.large[i]);
    const auto low = static_cast<double>(profile.large[i].block.count());
    const Bytes above = profile.large[i + 1].block;
    const double width = std::log2(static_cast<double>(above.count()) / low);
    gaps.push_back({.weight = width * std::min(below, all - below), .above = above});
  }
  std::stable_sort(
      gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) { return a.weight > b.weight; });
  if (gaps.size() > count) gaps.resize(count);
  std::vector<Bytes> sizes;
  sizes.reserve(gaps.size());
  for (const Gap& gap : gaps) sizes.push_back(gap.above);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

}  // namespace fragcast
