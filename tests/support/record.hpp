#pragma once

#include <cstddef>
#include <string_view>

#include "policies/registry.hpp"
#include "replay/engine/run_spec.hpp"
#include "replay/formats/recording.hpp"
#include "replay/trace/trace.hpp"

namespace fragcast {

/// What an allocator would have recorded of a run: the whole history and the final state. Stream n
/// has the handle 1000 + n; entries carry pools.
[[nodiscard]] Recording record(const Trace& trace, const RunConditions& conditions);

/// The same of a call script under a model and the script's own header.
[[nodiscard]] Recording record_script(std::string_view script,
                                      std::string_view model = "npu-caching");

/// One device of a recording as a ring buffer leaves it that dropped its oldest `entries`.
[[nodiscard]] Recording without_head(const Recording& recording,
                                     const RecordedDevice& device,
                                     std::size_t entries);

}  // namespace fragcast
