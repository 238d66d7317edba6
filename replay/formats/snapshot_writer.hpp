#pragma once

#include <iosfwd>

#include "replay/formats/recording.hpp"
#include "replay/trace/call_stacks.hpp"

namespace fragcast {

/// Writes a recording as the snapshot that torch 2.x would have dumped (pickle protocol 4, naming
/// no globals), with every key that memory_viz and MindStudio Insight look for. Devices without a
/// part in the recording get an empty history, as torch does. What stack ids mean is in `stacks`;
/// text that is no UTF-8 is replaced by U+FFFD where it is not.
///
/// `output` must be binary; whether it took everything is for the caller to ask of it.
void write_snapshot(const Recording& recording, const CallStacks& stacks, std::ostream& output);

}  // namespace fragcast
