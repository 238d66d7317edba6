#include "replay/search/front.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

namespace fragcast {
namespace {

auto keys_of(const std::string& settings) {
  return std::count(settings.begin(), settings.end(), ':');
}

}  // namespace

bool plainer(const TunedPoint& a, const TunedPoint& b) {
  const auto rank = [](const TunedPoint& point) {
    return std::tuple{keys_of(point.settings),
                      point.empty_cache != "keep",
                      point.settings.size() + point.empty_cache.size(),
                      std::tie(point.settings, point.empty_cache)};
  };
  return rank(a) < rank(b);
}

void Front::add(TunedPoint point) {
  for (TunedPoint& other : points_) {
    if (beats(other.standing, point.standing)) return;
    if (!same(other.standing, point.standing)) continue;
    const std::int64_t equals = other.equals + point.equals + 1;
    if (plainer(point, other)) other = std::move(point);
    other.equals = equals;
    return;
  }
  const auto beaten = [&](const TunedPoint& other) {
    return beats(point.standing, other.standing);
  };
  points_.erase(std::remove_if(points_.begin(), points_.end(), beaten), points_.end());
  points_.push_back(std::move(point));
}

}  // namespace fragcast
