#pragma once

#include <span>
#include <string>
#include <vector>

#include "replay/search/standing.hpp"

namespace fragcast {

/// Whether one of two equals is the plainer choice: fewer keys, calls of `empty_cache` as they are,
/// a shorter text.
[[nodiscard]] bool plainer(const TunedPoint& a, const TunedPoint& b);

/// The points that none of those seen beats: the Pareto front of peak reserved and cost, among
/// those that fail least often. Of equals it keeps the plainest and counts the others, so it stays
/// small, and is the same in whatever order points come.
class Front {
 public:
  void add(TunedPoint point);
  [[nodiscard]] std::span<const TunedPoint> points() const { return points_; }

 private:
  std::vector<TunedPoint> points_;
};

}  // namespace fragcast
