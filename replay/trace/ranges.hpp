#pragma once

#include <map>
#include <optional>
#include <vector>

#include "replay/trace/reserved_memory.hpp"
#include "sim/core/address.hpp"
#include "sim/core/strong_id.hpp"
#include "sim/device/range_owner.hpp"
#include "sim/observe/statistics.hpp"

namespace fragcast {

/// The address ranges that a recording mapped memory in. Recordings do not name them; but a range
/// reaches 1 1/8 of the device's memory from the lowest address ever mapped in it, and belongs to
/// one pool and one stream.
///
///     range A (stream 0, large)            range B (stream 0, small)
///     |map|    |map|map|       ...         |map|
///     base                   base + reach  base
class Ranges {
 public:
  /// `reach` is how far a range extends: 1 1/8 of the device's memory.
  explicit Ranges(Bytes reach) : reach_{reach} {}

  /// Some memory was mapped. All of it must be told before anything is asked.
  void add(const RangeOwner& owner, Address mapped);
  void settle();

  /// Where the range begins that an address of this owner lies in.
  [[nodiscard]] Address base_of(const RangeOwner& owner, Address address) const;
  /// Whether an address of this stream and pool lies in a range of the small or of the large pool:
  /// in the one that begins before it or, where none does, the one that begins next.
  [[nodiscard]] std::optional<PoolKind> kind_near(StreamId stream,
                                                  PoolId pool,
                                                  Address address) const;

 private:
  Bytes reach_;
  /// While telling, every address mapped; settled, the bases only. Sorted.
  std::map<RangeOwner, std::vector<Address>> mapped_;
};

/// Which ranges are alive, followed through a history forwards: a range lives from its first map
/// until nothing in it is mapped any more.
class LiveRanges {
 public:
  explicit LiveRanges(Bytes reach) : reach_{reach} {}

  [[nodiscard]] Bytes reach() const { return reach_; }
  /// Returns whether a new range begins here.
  bool map(const RangeOwner& owner, Extent extent);
  void unmap(const RangeOwner& owner, Extent extent);
  /// As `map`, for a stretch that was there at the beginning, in a range beginning at `base`.
  void adopt(const RangeOwner& owner, Address base, Bytes mapped);

 private:
  struct Key {
    RangeOwner owner;
    Address base;
    auto operator<=>(const Key&) const = default;
  };
  [[nodiscard]] std::map<Key, Bytes>::iterator find(const RangeOwner& owner, Address address);

  Bytes reach_;
  std::map<Key, Bytes> mapped_;
};

/// Whether memory that was mapped in one go is of the small or of the large pool. Small ranges grow
/// by single pages of 2 MiB.
[[nodiscard]] PoolKind kind_of_map(Bytes size);

}  // namespace fragcast
