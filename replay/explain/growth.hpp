#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "replay/engine/run_spec.hpp"
#include "replay/trace/trace.hpp"
#include "sim/observe/fragmentation.hpp"

namespace fragcast {

/// Why a request was not served from what was reserved. The first that holds.
enum class GrowthReason : std::uint8_t {
  max_split,     ///< a hole of its own pool was large enough, but not to be split for it
  no_hole_fits,  ///< its pool had enough free in all, in holes that are each too small
  pending,       ///< a block of its pool was large enough, freed, and not usable yet
  other_stream,  ///< a hole of the same kind of pool was large enough, of another stream
  wrong_pool,    ///< a hole was large enough in another pool of its stream
  first_use,     ///< its pool had nothing reserved
  pool_full,     ///< its pool had not enough free
};
[[nodiscard]] std::string_view name_of(GrowthReason reason);

/// A request for which reserved memory grew, and what there was before it.
struct Growth {
  /// Its event in the trace, and its number among the requests.
  std::size_t event = 0;
  std::uint64_t request = 0;
  /// 0: before the first.
  std::size_t step = 0;
  AllocationId allocation;
  /// Requested, and as the allocator rounds it.
  Bytes size;
  Bytes need;
  /// What the device was asked for and gave.
  Bytes asked;
  /// Before the request.
  Bytes reserved;
  Fragmentation gap;
  /// Free in the pool and on the stream that served it, before the request; of that the largest
  /// block.
  Bytes usable;
  Bytes largest_hole;
  GrowthReason reason = GrowthReason::pool_full;
  bool last_of_step = false;

  /// What the device would not have been asked for if the free bytes of the pool had been in one
  /// piece: asked − max(0, need − usable).
  [[nodiscard]] Bytes avoidable() const;
  /// Of `no_hole_fits`: by how much the largest hole is too small.
  [[nodiscard]] Bytes short_by() const { return need - largest_hole; }
};

/// All growths of a run, in order of the trace. `greatest_gap` is the index of the one with most
/// that is reserved and not requested; the first of equals; absent without growths.
struct GrowthTable {
  std::vector<Growth> growths;
  std::optional<std::size_t> greatest_gap;
  /// How many there are in each step; the first is what lies before step 1.
  std::vector<std::size_t> per_step;
};

/// Replays a trace and looks at the heap before each request for which it grew. Requests that were
/// not served are no growths. Throws InputError if the model refuses the conditions.
[[nodiscard]] GrowthTable find_growths(const Trace& trace, const RunConditions& conditions);

}  // namespace fragcast
