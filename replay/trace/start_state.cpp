#include "replay/trace/start_state.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "policies/caching/sizes.hpp"

namespace fragcast {
namespace {

/// How far an expandable range reaches, as the allocator reserves it.
Bytes reach_of(Bytes device_total) { return device_total + Bytes{device_total.count() / 8}; }

class Rebuilding {
 public:
  Rebuilding(WalkedBack& walked,
             const RecordedDevice& device,
             const RecordedNames& names,
             const RecordedConditions& conditions)
      : walked_{walked},
        device_{device},
        names_{names},
        conditions_{conditions},
        reach_{reach_of(conditions.device_total)},
        ranges_{reach_} {}

  StartState run() {
    drop_later_blocks(walked_, device_, names_);
    find_ranges();
    std::vector<SizedBlock> blocks = size_start_blocks(walked_, device_, names_, conditions_);
    StartState out{.blocks = std::move(blocks),
                   .heap = {},
                   .reserved = std::move(walked_.reserved),
                   .ranges = LiveRanges{reach_}};
    draw(out);
    return out;
  }

 private:
  void find_ranges();
  void draw(StartState& out) const;
  [[nodiscard]] SegmentPicture outline(const Stretch& stretch) const;
  static void fill(SegmentPicture& segment, const std::vector<SizedBlock>& blocks, std::size_t& i);

  WalkedBack& walked_;
  const RecordedDevice& device_;
  const RecordedNames& names_;
  const RecordedConditions& conditions_;
  Bytes reach_;
  Ranges ranges_;
};

void Rebuilding::find_ranges() {
  for (std::size_t i = walked_.first_entry; i < device_.entries.size(); ++i) {
    const RecordedEntry& entry = device_.entries[i];
    if (entry.action != RecordedAction::segment_map) continue;
    ranges_.add({.stream = names_.stream(entry.stream),
                 .pool = names_.pool(entry.pool),
                 .kind = kind_of_map(entry.size)},
                entry.address);
  }
  for (const auto& [key, stretch] : walked_.reserved.stretches()) {
    if (!stretch.expandable || !stretch.kind) continue;
    ranges_.add({.stream = stretch.stream, .pool = stretch.pool, .kind = *stretch.kind},
                stretch.extent.begin);
  }
  ranges_.settle();
  for (auto& [key, stretch] : walked_.reserved.stretches()) {
    if (stretch.kind) continue;
    const Bytes large_page = page_size(PoolKind::large, conditions_.settings);
    const PoolKind by_size =
        stretch.extent.size % large_page == Bytes{0} ? PoolKind::large : PoolKind::small;
    stretch.kind =
        ranges_.kind_near(stretch.stream, stretch.pool, stretch.extent.begin).value_or(by_size);
    ranges_.add({.stream = stretch.stream, .pool = stretch.pool, .kind = *stretch.kind},
                stretch.extent.begin);
  }
  ranges_.settle();
}

SegmentPicture Rebuilding::outline(const Stretch& stretch) const {
  SegmentPicture segment{.address = stretch.extent.begin,
                         .size = stretch.extent.size,
                         .stream = stretch.stream,
                         .kind = *stretch.kind,
                         .pool = stretch.pool,
                         .range = {},
                         .page_size = {},
                         .blocks = {}};
  if (stretch.expandable) {
    segment.page_size = page_size(*stretch.kind, conditions_.settings);
    const RangeOwner owner{.stream = stretch.stream, .pool = stretch.pool, .kind = *stretch.kind};
    const Address base = ranges_.base_of(owner, stretch.extent.begin);
    segment.range = Extent{base, round_up(reach_, segment.page_size)};
  }
  return segment;
}

void Rebuilding::fill(SegmentPicture& segment,
                      const std::vector<SizedBlock>& blocks,
                      std::size_t& i) {
  const auto add_free = [&](Address from, Address to) {
    if (from == to) return;
    segment.blocks.push_back({.address = from,
                              .size = to - from,
                              .requested = {},
                              .state = BlockState::free,
                              .allocation = {}});
  };
  Address at = segment.address;
  for (; i < blocks.size(); ++i) {
    const BlockKey key = blocks[i].block.key;
    if (key.stream != segment.stream || key.address >= segment.extent().end()) break;
    add_free(at, key.address);
    segment.blocks.push_back(
        {.address = key.address,
         .size = blocks[i].size,
         .requested = blocks[i].block.requested,
         .state = blocks[i].block.pending ? BlockState::pending : BlockState::allocated,
         .allocation = AllocationId{i}});
    at = key.address + blocks[i].size;
  }
  add_free(at, segment.extent().end());
}

/// Stretches and blocks are both in order of stream and address, and each block lies in a stretch:
/// one pass over both draws them all.
void Rebuilding::draw(StartState& out) const {
  std::size_t i = 0;
  for (const auto& [key, stretch] : out.reserved.stretches()) {
    SegmentPicture segment = outline(stretch);
    fill(segment, out.blocks, i);
    if (segment.expandable()) {
      out.ranges.adopt({.stream = stretch.stream, .pool = stretch.pool, .kind = *stretch.kind},
                       segment.range->begin,
                       segment.size);
    }
    out.heap.segments.push_back(std::move(segment));
  }
  std::sort(out.heap.segments.begin(),
            out.heap.segments.end(),
            [](const SegmentPicture& a, const SegmentPicture& b) {
              return std::pair{a.address, a.stream} < std::pair{b.address, b.stream};
            });
}

}  // namespace

StartState rebuild_start(WalkedBack& walked,
                         const RecordedDevice& device,
                         const RecordedNames& names,
                         const RecordedConditions& conditions) {
  return Rebuilding{walked, device, names, conditions}.run();
}

}  // namespace fragcast
