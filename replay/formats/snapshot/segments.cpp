#include "replay/formats/snapshot/segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "replay/formats/snapshot/handles.hpp"

namespace fragcast {

std::optional<PickleValue> BlockDrafts::add(const BlockDraft& draft) {
  const SplitNumber number{.sequence = lists_.size(), .place = current_.size()};
  if (number.sequence == SplitNumber::most_sequences) return std::nullopt;
  if (number.place == SplitNumber::most_places) return std::nullopt;
  current_.push_back(draft);
  return make_handle(Handle::block, number.joined());
}

std::optional<PickleValue> BlockDrafts::close(std::span<const PickleValue> blocks) {
  std::vector<BlockDraft> list;
  list.reserve(blocks.size());
  for (const PickleValue block : blocks) {
    const SplitNumber number = SplitNumber::of(block);
    if (number.sequence != lists_.size()) return std::nullopt;
    list.push_back(current_[number.place]);
  }
  current_.clear();
  lists_.push_back(std::move(list));
  return make_handle(Handle::blocks, lists_.size() - 1);
}

std::optional<std::string> place_blocks(RecordedSegment& segment,
                                        std::span<const BlockDraft> drafts) {
  const Extent whole{.begin = segment.address, .size = segment.total_size};
  if (whole.end() < whole.begin) return "reaches beyond the 64 bits of an address";
  Bytes placed;
  segment.blocks.reserve(drafts.size());
  for (const BlockDraft& draft : drafts) {
    RecordedBlock block = draft.block;
    const Address expected = whole.begin + placed;
    if (draft.has_address && block.address != expected) {
      return fmt::format(
          "has a block at address {:#x} where {:#x} follows: blocks must fill their "
          "segment without gaps or overlaps",
          block.address.value(),
          expected.value());
    }
    if (block.size > whole.size - placed) {
      return fmt::format("has {} bytes, less than its blocks have", whole.size.count());
    }
    if (block.size == Bytes{} && block.state != RecordedState::inactive) {
      return "has a block in use of 0 bytes";
    }
    block.address = expected;
    placed += block.size;
    segment.blocks.push_back(block);
  }
  if (placed != whole.size) {
    return fmt::format("has {} bytes, but its blocks only {}", whole.size.count(), placed.count());
  }
  return std::nullopt;
}

const SegmentDraft* find_overlap(std::span<const SegmentDraft> segments) {
  std::vector<const SegmentDraft*> sorted;
  sorted.reserve(segments.size());
  for (const SegmentDraft& draft : segments) sorted.push_back(&draft);
  const auto key = [](const SegmentDraft* draft) {
    return std::tuple{draft->device, draft->segment.stream, draft->segment.address, draft->begin};
  };
  std::sort(sorted.begin(), sorted.end(), [&](auto* a, auto* b) { return key(a) < key(b); });
  const auto overlap =
      std::adjacent_find(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
        return a->device == b->device && a->segment.stream == b->segment.stream &&
               b->segment.address < a->segment.address + a->segment.total_size;
      });
  return overlap == sorted.end() ? nullptr : *(overlap + 1);
}

}  // namespace fragcast
