#pragma once

#include "replay/formats/pickle/builder.hpp"
#include "replay/formats/recording.hpp"
#include "replay/formats/snapshot/fields.hpp"
#include "replay/formats/snapshot/parts.hpp"
#include "replay/formats/snapshot/records.hpp"

namespace fragcast {

/// The recording of a snapshot, whose outermost object names the parts it consists of: a dict with
/// `segments` and `device_traces`, or one of them, or a list of segments. Uses up the parts. Throws
/// InputError if it is no snapshot, a part is broken, or segments overlap.
[[nodiscard]] Recording assemble(const PickleObject& outermost,
                                 SnapshotFields& fields,
                                 SnapshotRecords& records,
                                 SnapshotParts& parts);

/// Whether the outermost object of a snapshot that was cut has all segments: only where another key
/// follows can one know.
[[nodiscard]] bool has_all_segments(const PickleObject& outermost);

}  // namespace fragcast
