#include "replay/transforms/scale_sizes.hpp"

#include <algorithm>
#include <cmath>

#include "sim/core/check.hpp"

namespace fragcast {
namespace {

Bytes scaled(Bytes size, double factor) {
  if (size == Bytes{0}) return size;
  const double exact = factor * static_cast<double>(size.count());
  return std::max(Bytes{1}, Bytes{std::llround(exact)});
}

}  // namespace

Trace scale_sizes(const Trace& trace, double factor) {
  FRAGCAST_CHECK(factor > 0, "sizes are scaled by nothing");
  Trace result = trace;
  result.addresses = {};
  result.events = {};
  for (Event event : trace.events) {
    if (event.kind == EventKind::allocate) event.size = scaled(event.size, factor);
    result.events.push_back(event);
  }
  return result;
}

}  // namespace fragcast
