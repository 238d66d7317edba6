#include "replay/verify/refine_start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "policies/caching/sizes.hpp"
#include "replay/engine/session.hpp"

namespace fragcast {
namespace {

/// What a plain large segment does not split off.
constexpr Bytes unsplit_rest = sizes::small_request;
/// Each round costs a replay; a recording that needs more is beyond explaining this way.
constexpr std::size_t most_rounds = 1000;

struct Enlargement {
  AllocationId block;
  Bytes by;
};

/// A block of a layout and what lies before and behind it.
struct Neighbourhood {
  const BlockPicture* before = nullptr;
  const BlockPicture* block = nullptr;
  const BlockPicture* behind = nullptr;
};

Neighbourhood around(const Layout& heap, Address address, StreamId stream) {
  for (const SegmentPicture& segment : heap.segments) {
    if (segment.stream != stream || !segment.extent().contains(address)) continue;
    const auto& blocks = segment.blocks;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].address != address) continue;
      return {.before = i > 0 ? &blocks[i - 1] : nullptr,
              .block = &blocks[i],
              .behind = i + 1 < blocks.size() ? &blocks[i + 1] : nullptr};
    }
  }
  return {};
}

/// What the block before a misplaced request must at least have had more, if that can be why.
std::optional<Enlargement> explain(const Normalised& recording,
                                   const Event& event,
                                   Address placed,
                                   const Layout& heap) {
  const Neighbourhood near = around(heap, placed, event.stream);
  if (near.before == nullptr || !near.before->allocation) return std::nullopt;
  const auto& uncertain = recording.recorded.uncertain_sizes;
  const AllocationId suspect = *near.before->allocation;
  if (!std::binary_search(uncertain.begin(), uncertain.end(), suspect)) return std::nullopt;

  const RecordedConditions& conditions = recording.conditions;
  const auto rounded = [&](Bytes requested) {
    return round_size(requested, conditions.padding, conditions.settings);
  };
  Bytes fitting = near.block->size;
  if (near.behind != nullptr && near.behind->state == BlockState::free) {
    fitting += near.behind->size;
  }
  const Bytes wanted = event.failed_in_recording ? event.size : rounded(event.size);
  const Bytes by = fitting - wanted + sizes::min_block;
  const Bytes rest = near.before->size + by - rounded(near.before->requested);
  if (rest > unsplit_rest) return std::nullopt;
  return Enlargement{.block = suspect, .by = by};
}

/// The first request that goes astray, if an uncertain size can be why.
std::optional<Enlargement> find_enlargement(const Normalised& recording, const ModelEntry& model) {
  RunSpec spec;
  spec.model = &model;
  spec.release = recording.conditions.release_of(model);
  spec.start = Start::warm;
  Session session{recording.trace, resolve_conditions(recording.trace, spec)};
  if (!session.refusal().empty()) return std::nullopt;
  while (!session.at_end()) {
    const Event& event = session.next();
    const EventResult result = session.step();
    if (event.kind != EventKind::allocate) continue;
    const bool placed = result.kind == EventResult::Kind::placed;
    if (placed &&
        result.placement.address == recording.recorded.addresses[event.allocation.index()]) {
      continue;
    }
    if (!placed && event.failed_in_recording) continue;
    if (!placed) return std::nullopt;
    return explain(recording, event, result.placement.address, session.model().layout());
  }
  return std::nullopt;
}

/// False if the block is not followed by a free one with so much to give.
bool enlarge(Layout& heap, const Enlargement& enlargement) {
  for (SegmentPicture& segment : heap.segments) {
    for (std::size_t i = 0; i + 1 < segment.blocks.size(); ++i) {
      BlockPicture& block = segment.blocks[i];
      BlockPicture& behind = segment.blocks[i + 1];
      if (block.allocation != enlargement.block) continue;
      if (behind.state != BlockState::free || behind.size <= enlargement.by) return false;
      block.size += enlargement.by;
      behind.address = behind.address + enlargement.by;
      behind.size -= enlargement.by;
      return true;
    }
  }
  return false;
}

}  // namespace

std::size_t refine_start(Normalised& recording, const ModelEntry& model) {
  if (recording.recorded.uncertain_sizes.empty()) return 0;
  std::size_t rounds = 0;
  while (rounds < most_rounds) {
    const auto enlargement = find_enlargement(recording, model);
    if (!enlargement || !enlarge(recording.trace.initial.heap, *enlargement)) break;
    ++rounds;
  }
  if (rounds > 0) {
    recording.notes.push_back(
        {.id = "start_refined",
         .text = fmt::format("blocks of the start were enlarged {} times, each by the least that "
                             "explains where the recording placed a later request",
                             rounds)});
  }
  return rounds;
}

}  // namespace fragcast
