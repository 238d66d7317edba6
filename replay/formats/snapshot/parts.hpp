#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "replay/formats/pickle/value.hpp"
#include "replay/formats/recording.hpp"
#include "replay/formats/snapshot/histories.hpp"
#include "replay/formats/snapshot/segments.hpp"
#include "replay/trace/id_index.hpp"

namespace fragcast {

/// An item of a block's `history`, which torch 2.0 wrote in place of address and frames.
struct PastUse {
  Bytes requested;
  StackId stack;
};

/// What was read of a snapshot and waits for the lists that name it.
struct SnapshotParts {
  /// Holds already what needs no list: stacks, streams, pools, settings, unknown words.
  Recording recording;
  Histories histories;
  BlockDrafts blocks;
  std::vector<SegmentDraft> segments;
  std::vector<RecordedAnnotation> annotations;
  std::vector<PastUse> past_uses;
  bool is_torch_2_0 = false;
  std::map<std::string, std::int64_t> divisions;
  /// Lists of handles, by number.
  std::vector<std::vector<PickleValue>> lists;
};

}  // namespace fragcast
