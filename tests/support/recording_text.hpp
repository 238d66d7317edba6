#pragma once

#include <string_view>

#include "replay/formats/recording.hpp"

namespace fragcast {

/// A recording of one device, from text: an entry a line, oldest first, then the final state.
/// Numbers are decimal or 0x…, may have a unit and may be sums; `#` starts a comment.
///
///     segment_alloc 2MiB 2MiB
///     alloc 2MiB+512 100 stream=7 pool=1     address, requested size
///     free_requested 2MiB+512 100 stream=7
///     free_completed 2MiB+512 100 stream=7
///     oom 30MiB 20MiB                        device_free, rounded size
///     snapshot
///     segment 2MiB 2MiB small                address, size, kind; then its blocks
///     block 2MiB 512 100 allocated           address, size, requested, state
///     segment 64MiB 20MiB large expandable stream=7 pool=1
///
/// Without `stream=` an entry is on the stream of handle 1000; entries carry pools of their own as
/// soon as one does.
[[nodiscard]] Recording recording_from_text(std::string_view text);

}  // namespace fragcast
