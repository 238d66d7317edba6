#include "replay/search/front.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace fragcast {
namespace {

struct Figures {
  std::int64_t failures = 0;
  double peak = 0;
  double time = 0;
  std::int64_t waits = 0;
};

TunedPoint point(std::string settings, const Figures& figures) {
  TunedPoint made;
  made.settings = std::move(settings);
  made.standing.failures = figures.failures;
  made.standing.worst = figures.peak;
  made.standing.total = figures.peak;
  made.standing.cost = {.low = Microseconds{figures.time / 10},
                        .mid = Microseconds{figures.time},
                        .high = Microseconds{figures.time * 10},
                        .waits = figures.waits};
  return made;
}

/// Their settings, in alphabetical order.
std::vector<std::string> front_of(const std::vector<TunedPoint>& points) {
  Front front;
  for (const TunedPoint& one : points) front.add(one);
  std::vector<std::string> names;
  for (const TunedPoint& one : front.points()) names.push_back(one.settings);
  std::sort(names.begin(), names.end());
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a point beats another that is worse in one respect and better in none", "[front]") {
  const TunedPoint a = point("a", {.peak = 10, .time = 5});
  CHECK(beats(a.standing, point("b", {.peak = 11, .time = 5}).standing));
  CHECK(beats(a.standing, point("b", {.peak = 10, .time = 6}).standing));
  CHECK(beats(a.standing, point("b", {.peak = 10, .time = 5, .waits = 1}).standing));
  CHECK_FALSE(beats(a.standing, a.standing));
  CHECK_FALSE(beats(a.standing, point("b", {.peak = 11, .time = 4}).standing));
  CHECK_FALSE(beats(a.standing, point("b", {.peak = 9, .time = 50}).standing));
}

TEST_CASE("a point that fails less often beats all that fail more", "[front]") {
  const TunedPoint fits = point("fits", {.peak = 100, .time = 100});
  const TunedPoint fails = point("fails", {.failures = 1, .peak = 1, .time = 1});
  CHECK(beats(fits.standing, fails.standing));
  CHECK(front_of({fails, fits}) == Names{"fits"});
}

TEST_CASE("a cost that is less at low prices and more at high ones beats nothing", "[front]") {
  TunedPoint a = point("a", {.peak = 10, .time = 5});
  const TunedPoint b = point("b", {.peak = 10, .time = 5});
  a.standing.cost.low = Microseconds{0};
  a.standing.cost.high = Microseconds{100};
  CHECK(front_of({a, b}) == Names{"a", "b"});
}

TEST_CASE("the front is the same in whatever order points come", "[front]") {
  std::vector<TunedPoint> points{point("a", {.peak = 10, .time = 5}),
                                 point("b", {.peak = 8, .time = 7}),
                                 point("c", {.peak = 9, .time = 8}),
                                 point("d", {.peak = 8, .time = 7}),
                                 point("k:1", {.peak = 10, .time = 5})};
  const auto by_name = [](const TunedPoint& x, const TunedPoint& y) {
    return x.settings < y.settings;
  };
  std::sort(points.begin(), points.end(), by_name);
  do {
    CHECK(front_of(points) == Names{"a", "b"});
  } while (std::next_permutation(points.begin(), points.end(), by_name));
}

TEST_CASE("of equals the plainest is kept and the others are counted", "[front]") {
  Front front;
  front.add(point("x:1,y:2", {.peak = 1}));
  front.add(point("x:10", {.peak = 1}));
  front.add(point("x:1", {.peak = 1}));
  front.add(point("x:1,z:3", {.peak = 1}));
  REQUIRE(front.points().size() == 1);
  CHECK(front.points()[0].settings == "x:1");
  CHECK(front.points()[0].equals == 3);
}

}  // namespace fragcast
