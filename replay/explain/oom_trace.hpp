#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/engine/run.hpp"
#include "replay/formats/oom_message.hpp"
#include "replay/load/subject.hpp"

namespace fragcast {

/// A figure that a message and a replay disagree on.
struct OomDifference {
  OomFigure figure = OomFigure::tried;
  /// As the message prints it, and as the replay does.
  SizeRange message;
  SizeRange replay;
};

/// A request of a trace that finds no memory, beside a message.
struct OomCandidate {
  /// `event:N`; empty: while the heap was made that the trace begins with.
  std::string place;
  bool failed_in_recording = false;
  std::vector<OomDifference> differences;
};

/// A message held against a replay of a trace under its recorded settings.
struct OomTraceCheck {
  /// How many figures were compared with the closest.
  std::uint64_t compared = 0;
  /// In order of the trace. Several: the message does not tell which of them it is about.
  std::vector<OomCandidate> agreeing;
  /// Where none agrees: that which differs in fewest figures, if any request failed at all.
  std::optional<OomCandidate> closest;
  /// Requests that failed in the replay, and those that failed in the recording alone.
  std::uint64_t failures = 0;
  std::uint64_t only_recorded = 0;
  /// Plain sentences: what it comes to.
  std::vector<std::string> verdict;

  [[nodiscard]] bool agrees() const { return !agreeing.empty(); }
};

/// `run` is the replay of the subject's trace. The device's total is compared only where the trace
/// states it: a recording does not hold it.
[[nodiscard]] OomTraceCheck check_against(const OomMessage& message,
                                          const Subject& subject,
                                          const Run& run);

}  // namespace fragcast
