#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "policies/registry.hpp"
#include "replay/trace/normalise.hpp"
#include "sim/core/bytes.hpp"

namespace fragcast {

/// How many of what was recorded a replay reproduced.
struct Score {
  std::size_t equal = 0;
  std::size_t of = 0;

  [[nodiscard]] bool perfect() const { return equal == of; }
  /// 0..100; nothing to reproduce counts as 100.
  [[nodiscard]] double percent() const;
};

/// Where a replay first did something else than was recorded.
struct Divergence {
  /// Index of the event in the trace, and of the entry in the recording.
  std::size_t event = 0;
  std::uint32_t entry = 0;
  /// Which request it is, counted as `request:N` counts.
  std::size_t request = 0;
  /// What was recorded, and what the model did.
  std::string what;
  /// Where the reason most likely lies.
  std::string why;
};

/// What came of replaying a recording as it was recorded.
struct Verification {
  /// Why there was no replay; empty if there was.
  std::string refusal;
  /// Segments made and given back, pages mapped and unmapped: in order, with address and size.
  Score segment_events;
  /// Allocations at their recorded address.
  Score addresses;
  /// Failed requests that failed again.
  Score failures;
  /// Segment events of the replay that were not recorded.
  std::size_t unrecorded = 0;
  /// The greatest difference of reserved memory between two events.
  Bytes reserved_max_error;
  std::optional<Divergence> first;

  [[nodiscard]] bool perfect() const {
    return refusal.empty() && segment_events.perfect() && addresses.perfect() &&
           failures.perfect() && unrecorded == 0 && reserved_max_error == Bytes{};
  }
  /// The least of the scores, segment events that were not recorded counted against theirs.
  [[nodiscard]] double percent() const;
};

/// Replays a recording under the conditions it was recorded under, from the rebuilt heap and with
/// the recorded device addresses, and compares every step with what was recorded.
[[nodiscard]] Verification verify(const Normalised& recording, const ModelEntry& model);

}  // namespace fragcast
