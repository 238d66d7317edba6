#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "replay/trace/trace.hpp"

namespace fragcast {

/// Where the decisions of a generator come from: a number below `bound`, which is at least 1.
using Choose = std::function<std::uint64_t(std::uint64_t bound)>;

/// The same decisions for the same seed, on every platform.
[[nodiscard]] Choose choose_by_seed(std::uint64_t seed);
/// Decisions read from bytes, which must outlive it; all 0 when they are used up.
[[nodiscard]] Choose choose_by_bytes(std::span<const std::uint8_t> bytes);

/// What a random trace is made of, beside allocations and frees.
struct TraceShape {
  std::size_t calls = 300;
  std::uint16_t streams = 1;
  Bytes largest_request = 64_MiB;
  /// Streams use blocks of others, and the device finishes work or is waited for.
  bool stream_uses = false;
  bool empty_caches = false;
  bool empty_virtual_caches = false;
  /// Private pools: scopes, references, and what can be set on them.
  bool pools = false;
  bool captures = false;
  bool fraction_changes = false;
  bool statistics_resets = false;
  /// Changes at run time, one of these at a time; none if there are none.
  std::vector<std::string> settings_changes;
  /// At the end everything open is closed, everything live freed, all work finished, and the cache
  /// emptied.
  bool winds_down = false;
};

/// A trace of legal calls: only live allocations are freed or used, and what is closed was open.
/// A model may still refuse a control call, such as a pool that is begun after its release.
[[nodiscard]] Trace random_trace(const TraceShape& shape, const Choose& choose);

/// Says that a trace still shows what is looked for.
using StillFails = std::function<bool(const Trace& trace)>;

/// The smallest trace found by leaving out allocations with all calls on them, private pools with
/// all calls on them, captures, and single other calls, as long as it still fails.
[[nodiscard]] Trace shrink(const Trace& trace, const StillFails& still_fails);

/// As a call script.
[[nodiscard]] std::string script_of(const Trace& trace);

}  // namespace fragcast
