#pragma once

#include <compare>

#include "sim/core/strong_id.hpp"
#include "sim/observe/statistics.hpp"

namespace fragcast {

/// Whose an expandable range of addresses is: each serves one stream of one pool.
struct RangeOwner {
  StreamId stream;
  PoolId pool;
  PoolKind kind = PoolKind::large;
  auto operator<=>(const RangeOwner&) const = default;
};

}  // namespace fragcast
