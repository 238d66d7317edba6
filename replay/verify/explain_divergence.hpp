#pragma once

#include <string>

#include "replay/trace/normalise.hpp"
#include "replay/trace/trace.hpp"
#include "sim/observe/event_log.hpp"

namespace fragcast {

/// An event in a few words: `allocation of 512 bytes on stream 0`.
[[nodiscard]] std::string describe(const Event& event);

/// A step of the model where another one was recorded, where none was, or that was recorded and not
/// taken.
[[nodiscard]] std::string describe_difference(const LogEntry& recorded, const LogEntry& done);
[[nodiscard]] std::string describe_unrecorded(const LogEntry& done);
[[nodiscard]] std::string describe_missing(const LogEntry& recorded);

/// Where the reason for a divergence at this event most likely lies: in what the file cannot tell
/// or what was assumed about it, else in the model.
[[nodiscard]] std::string likely_reason(const Normalised& recording, const Event& event);

}  // namespace fragcast
