#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/core/bytes.hpp"

namespace fragcast {

/// The two kinds of pool of a caching allocator. Models without pools count everything as large.
enum class PoolKind : std::uint8_t { small, large };

/// One counter, as torch's `memory_stats` has it.
struct Stat {
  std::int64_t current = 0;
  std::int64_t peak = 0;
  /// Sum of all increases and, apart, of all decreases.
  std::int64_t allocated = 0;
  std::int64_t freed = 0;

  void increase(std::int64_t amount) {
    current += amount;
    allocated += amount;
    peak = std::max(peak, current);
  }
  void decrease(std::int64_t amount) {
    current -= amount;
    freed += amount;
  }
  /// By a net difference of either sign.
  void change(std::int64_t amount) {
    if (amount >= 0) {
      increase(amount);
    } else {
      decrease(-amount);
    }
  }
  void reset_peak() { peak = current; }
  void reset_accumulated() { allocated = freed = 0; }
};

/// One counter for both kinds of pool together and for each.
struct StatByKind {
  Stat all;
  std::array<Stat, 2> by_kind;

  [[nodiscard]] Stat& of(PoolKind kind) { return by_kind[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] const Stat& of(PoolKind kind) const {
    return by_kind[static_cast<std::size_t>(kind)];
  }

  void increase(PoolKind kind, std::int64_t amount) {
    all.increase(amount);
    of(kind).increase(amount);
  }
  void increase(PoolKind kind, Bytes amount) { increase(kind, amount.count()); }
  void decrease(PoolKind kind, std::int64_t amount) {
    all.decrease(amount);
    of(kind).decrease(amount);
  }
  void decrease(PoolKind kind, Bytes amount) { decrease(kind, amount.count()); }
  void change(PoolKind kind, std::int64_t amount) {
    all.change(amount);
    of(kind).change(amount);
  }
  void change(PoolKind kind, Bytes amount) { change(kind, amount.count()); }

  [[nodiscard]] const Stat& small() const { return by_kind[0]; }
  [[nodiscard]] const Stat& large() const { return by_kind[1]; }
};

/// Everything an allocator counts: the fields of torch's `DeviceStats`, by the same names. Counts
/// are numbers of things, `*_bytes` are bytes.
struct Statistics {
  StatByKind allocation;
  StatByKind segment;
  StatByKind active;
  StatByKind inactive_split;
  StatByKind allocated_bytes;
  StatByKind reserved_bytes;
  StatByKind active_bytes;
  StatByKind inactive_split_bytes;
  StatByKind requested_bytes;
  Stat oversize_allocations;
  Stat oversize_segments;

  std::int64_t num_alloc_retries = 0;
  std::int64_t num_ooms = 0;
  std::int64_t num_oom_rejections = 0;
  std::int64_t num_sync_all_streams = 0;
  std::int64_t num_device_alloc = 0;
  std::int64_t num_device_free = 0;

  /// The limit of the settings the allocator started with; no count, so no reset changes it.
  Bytes max_split_size = Bytes::unlimited();

  void reset_peak();
  void reset_accumulated();
};

/// The four amounts people watch, at one moment.
struct Usage {
  /// What callers asked for, of blocks allocated or waiting for events.
  Bytes requested;
  Bytes allocated;
  Bytes active;
  Bytes reserved;
  bool operator==(const Usage&) const = default;
};

[[nodiscard]] inline Usage current_usage(const Statistics& s) {
  return {.requested = Bytes{s.requested_bytes.all.current},
          .allocated = Bytes{s.allocated_bytes.all.current},
          .active = Bytes{s.active_bytes.all.current},
          .reserved = Bytes{s.reserved_bytes.all.current}};
}

[[nodiscard]] inline Usage peak_usage(const Statistics& s) {
  return {.requested = Bytes{s.requested_bytes.all.peak},
          .allocated = Bytes{s.allocated_bytes.all.peak},
          .active = Bytes{s.active_bytes.all.peak},
          .reserved = Bytes{s.reserved_bytes.all.peak}};
}

}  // namespace fragcast
