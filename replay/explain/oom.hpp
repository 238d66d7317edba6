#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/formats/oom_message.hpp"
#include "replay/formats/printed_size.hpp"

namespace fragcast {

/// Why a request found no memory, as far as its message tells.
enum class OomCause : std::uint8_t {
  capacity,       ///< more than is free on the device and in the cache together
  fraction,       ///< a limit that a memory fraction sets
  driver,         ///< the device had enough, and no limit is named
  outside,        ///< much of the device is held outside this allocator
  streams,        ///< much is freed, but other streams still use it
  private_pools,  ///< much is free in private pools, where others cannot use it
  fragmentation,  ///< enough is free, but not in one piece
  unknown,        ///< the message does not tell
};

/// From which share of the device's memory on something is called large.
struct OomThresholds {
  double outside = 0.2;
  double streams = 0.05;
  double private_pools = 0.05;
};

/// One cause that holds.
struct OomFinding {
  OomCause cause = OomCause::unknown;
  /// What it is about; absent where no figure tells.
  std::optional<SizeRange> bytes;
  /// For all that the rounded figures can mean, not for some of it only.
  bool certain = true;
  std::string evidence;
  /// What it was held against.
  std::string threshold;
  /// What to do about it.
  std::string next;
};

/// What follows from the figures of one message. Absent where a figure is missing or impossible.
struct OomJudgement {
  /// In blocks that the program uses (active included, free memory of private pools not).
  std::optional<SizeRange> allocated;
  std::optional<SizeRange> reserved;
  /// Reserved and not allocated, pending and private pools included.
  std::optional<SizeRange> cached;
  /// Freed, and still used by other streams.
  std::optional<SizeRange> pending;
  /// total − reserved − free: on the device, and not this allocator's.
  std::optional<SizeRange> others;
  /// What the request itself may have been: a segment is larger than what it is asked for.
  std::optional<SizeRange> request;
  /// The largest allocation that any setting could reach: free + cached.
  std::optional<SizeRange> best;
  /// The same where a limit is named and stays: also allowed − allocated.
  std::optional<SizeRange> best_within_limit;
  /// The largest first; never empty.
  std::vector<OomFinding> findings;
  /// What is odd about the figures, and what was left out for it.
  std::vector<std::string> remarks;
};

[[nodiscard]] OomJudgement judge(const OomMessage& message, const OomThresholds& thresholds = {});

/// `capacity`, `private_pools`, …
[[nodiscard]] std::string_view name_of(OomCause cause);

}  // namespace fragcast
