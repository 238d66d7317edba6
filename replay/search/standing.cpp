#include "replay/search/standing.hpp"

#include <algorithm>

namespace fragcast {
namespace {

bool no_worse(const CostEstimate& a, const CostEstimate& b) {
  return a.low <= b.low && a.mid <= b.mid && a.high <= b.high && a.waits <= b.waits;
}

bool no_worse(const Standing& a, const Standing& b) {
  return a.failures <= b.failures && a.worst <= b.worst && a.total <= b.total &&
         no_worse(a.cost, b.cost);
}

}  // namespace

void Standing::add(const TunedRun& run, Bytes unit) {
  const double peak = static_cast<double>(run.peak_reserved.count()) /
                      static_cast<double>(std::max(Bytes{1}, unit).count());
  failures += run.failures;
  worst = std::max(worst, peak);
  total += peak;
  cost.low += run.cost.low;
  cost.mid += run.cost.mid;
  cost.high += run.cost.high;
  cost.waits += run.cost.waits;
  cost.idle_waits += run.cost.idle_waits;
}

bool beats(const Standing& a, const Standing& b) {
  if (a.failures != b.failures) return a.failures < b.failures;
  return no_worse(a, b) && !no_worse(b, a);
}

bool same(const Standing& a, const Standing& b) { return no_worse(a, b) && no_worse(b, a); }

}  // namespace fragcast
