#include "sim/observe/draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace fragcast {
namespace {

/// Blocks shown on either side of the one that matters.
constexpr std::ptrdiff_t nearby_blocks = 6;

char letter_of(BlockState state) {
  switch (state) {
    case BlockState::allocated:
      return 'A';
    case BlockState::pending:
      return 'P';
    case BlockState::held_back:
      return 'H';
    case BlockState::free:
      return '.';
  }
  return '?';
}

/// What a block's requested size is where drawing it would say nothing.
Bytes obvious_request(const BlockPicture& block) {
  return block.state == BlockState::free ? Bytes{0} : block.size;
}

std::string hex(Address address) { return fmt::format("{:#x}", address.value()); }

/// The blocks from `nearby_blocks` before `centre` to as many after it; `centre` is marked.
std::string draw_window(const std::vector<BlockPicture>& blocks, std::ptrdiff_t centre) {
  const auto count = std::ssize(blocks);
  const std::ptrdiff_t first = std::max<std::ptrdiff_t>(0, centre - nearby_blocks);
  const std::ptrdiff_t last = std::min(count, centre + nearby_blocks + 1);
  std::string text;
  if (first > 0) text += fmt::format("({} more) ", first);
  for (std::ptrdiff_t i = first; i < last; ++i) {
    const std::string block = draw(blocks[static_cast<std::size_t>(i)], BlockDetail::everything);
    text += i == centre ? fmt::format(" >{}< ", block) : block;
  }
  if (last < count) text += fmt::format(" ({} more)", count - last);
  return text;
}

enum class Shown { front, back };

/// The end of a neighbour that faces the address of interest.
std::string draw_neighbour(const SegmentPicture& segment, Shown shown) {
  const auto count = std::ssize(segment.blocks);
  const std::ptrdiff_t few = std::min(count, nearby_blocks);
  const std::ptrdiff_t first = shown == Shown::front ? 0 : count - few;
  std::string text;
  if (first > 0) text += fmt::format("({} more) ", first);
  for (std::ptrdiff_t i = first; i < first + few; ++i) {
    text += draw(segment.blocks[static_cast<std::size_t>(i)], BlockDetail::everything);
  }
  if (first + few < count) text += fmt::format(" ({} more)", count - first - few);
  return fmt::format("    {}: {}\n", draw_heading(segment), text);
}

std::string draw_centre(const SegmentPicture& segment, Address address) {
  const auto after =
      std::upper_bound(segment.blocks.begin(),
                       segment.blocks.end(),
                       address,
                       [](Address a, const BlockPicture& block) { return a < block.address; });
  const std::ptrdiff_t centre = std::distance(segment.blocks.begin(), after) - 1;
  return fmt::format("  > {}: {}\n", draw_heading(segment), draw_window(segment.blocks, centre));
}

}  // namespace

std::string drawn_size(Bytes size) {
  constexpr std::array<std::pair<Bytes, char>, 3> units{{{1_GiB, 'G'}, {1_MiB, 'M'}, {1_KiB, 'K'}}};
  for (const auto& [unit, letter] : units) {
    if (size != Bytes{0} && size % unit == Bytes{0})
      return fmt::format("{}{}", size / unit, letter);
  }
  return fmt::format("{}", size.count());
}

std::string draw(const BlockPicture& block, BlockDetail detail) {
  std::string id;
  std::string request;
  if (detail == BlockDetail::everything) {
    if (block.allocation) id = fmt::format("{}", block.allocation->value());
    if (block.requested != obvious_request(block)) {
      request = fmt::format("/{}", drawn_size(block.requested));
    }
  }
  return fmt::format("[{}{} {}{}]", letter_of(block.state), id, drawn_size(block.size), request);
}

std::string draw_blocks(const SegmentPicture& segment, BlockDetail detail) {
  std::string text;
  for (const BlockPicture& block : segment.blocks) text += draw(block, detail);
  return text;
}

std::string draw_heading(const SegmentPicture& segment) {
  const std::string_view kind = segment.kind == PoolKind::small ? "small" : "large";
  std::string text =
      fmt::format("{} {} stream {}", hex(segment.address), kind, segment.stream.value());
  if (segment.pool != PoolId{}) text += fmt::format(" pool {}", segment.pool.value());
  if (segment.range) {
    text += fmt::format(" pages {} of {}+{}",
                        drawn_size(segment.page_size),
                        hex(segment.range->begin),
                        drawn_size(segment.range->size));
  }
  if (segment.flush == FlushRule::passes_over) text += " kept";
  return text;
}

std::string draw(const Layout& heap, BlockDetail detail) {
  std::string text;
  for (const SegmentPicture& segment : heap.segments) {
    text += fmt::format("{}: {}\n", draw_heading(segment), draw_blocks(segment, detail));
  }
  return text;
}

std::string draw_around(const Layout& heap, Address address) {
  const auto after = std::upper_bound(
      heap.segments.begin(), heap.segments.end(), address, [](Address a, const SegmentPicture& s) {
        return a < s.address;
      });
  std::string text;
  auto before = after;
  const bool held =
      before != heap.segments.begin() && std::prev(before)->extent().contains(address);
  if (held) --before;
  if (before != heap.segments.begin()) text += draw_neighbour(*std::prev(before), Shown::back);
  if (held) {
    text += draw_centre(*before, address);
  } else {
    text += fmt::format("  > {}: in no segment\n", hex(address));
  }
  if (after != heap.segments.end()) text += draw_neighbour(*after, Shown::front);
  return text;
}

}  // namespace fragcast
