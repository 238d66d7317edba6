#include "replay/transforms/scale_sizes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

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
  for (std::size_t i = 0; i < result.events.size(); ++i) {
    Event& event = result.events[i];
    if (event.kind == EventKind::allocate) event.size = scaled(event.size, factor);
  }
  return result;
}

}  // namespace fragcast
