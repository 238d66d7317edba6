#pragma once

#include <cstddef>
#include <cstdint>

#include "replay/trace/trace.hpp"

namespace fragcast {

/// What a made-up workload looks like.
struct WorkloadShape {
  /// Allocations and frees together.
  std::size_t requests = 1'000'000;
  /// How many allocations are live once it has warmed up.
  std::size_t live = 2'000;
  std::uint16_t streams = 4;
  std::uint64_t seed = 1;
};

/// Allocations and frees in random order, sizes log-uniform from 512 bytes to 64 MiB. The same on
/// every machine.
[[nodiscard]] Trace mixed_workload(const WorkloadShape& shape);

}  // namespace fragcast
