#include "replay/trace/reserved_memory.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fragcast {
namespace {

/// Whether two stretches that touch are one: mapped memory of one range has no seams.
bool grow_together(const Stretch& left, const Stretch& right) {
  return left.expandable && right.expandable && left.stream == right.stream &&
         left.pool == right.pool && left.extent.end() == right.extent.begin &&
         (left.kind == right.kind || !left.kind || !right.kind);
}

}  // namespace

bool ReservedMemory::add(const Stretch& stretch) {
  const auto after = stretches_.lower_bound(stretch.key());
  const bool hits_next = after != stretches_.end() && after->second.stream == stretch.stream &&
                         after->second.extent.overlaps(stretch.extent);
  const auto before = after == stretches_.begin() ? stretches_.end() : std::prev(after);
  const bool hits_previous = before != stretches_.end() &&
                             before->second.stream == stretch.stream &&
                             before->second.extent.overlaps(stretch.extent);
  if (hits_next || hits_previous) return false;

  Stretch grown = stretch;
  const auto absorb = [&](std::map<BlockKey, Stretch>::iterator neighbour) {
    const Stretch& other = neighbour->second;
    grown.extent = {std::min(grown.extent.begin, other.extent.begin),
                    grown.extent.size + other.extent.size};
    if (!grown.kind) grown.kind = other.kind;
    grown.blocks += other.blocks;
    erase(neighbour);
  };
  if (after != stretches_.end() && grow_together(grown, after->second)) absorb(after);
  if (before != stretches_.end() && grow_together(before->second, grown)) absorb(before);
  insert(grown);
  return true;
}

std::optional<Stretch> ReservedMemory::take(StreamId stream, Extent extent) {
  std::optional<Stretch> whole;
  auto it = stretches_.upper_bound({.stream = stream, .address = extent.begin});
  if (it != stretches_.begin()) --it;
  while (it != stretches_.end() &&
         it->first < BlockKey{.stream = stream, .address = extent.end()}) {
    const Stretch found = it->second;
    const auto next = std::next(it);
    if (found.stream == stream && found.extent.overlaps(extent)) {
      if (found.extent.begin <= extent.begin && extent.end() <= found.extent.end()) whole = found;
      erase(it);
      if (found.extent.begin < extent.begin) {
        Stretch left = found;
        left.extent.size = extent.begin - found.extent.begin;
        insert(left);
      }
      if (extent.end() < found.extent.end()) {
        Stretch right = found;
        right.extent = {extent.end(), found.extent.end() - extent.end()};
        insert(right);
      }
    }
    it = next;
  }
  return whole;
}

const Stretch* ReservedMemory::find(BlockKey at) const {
  auto it = stretches_.upper_bound(at);
  if (it == stretches_.begin()) return nullptr;
  const Stretch& stretch = std::prev(it)->second;
  return stretch.stream == at.stream && stretch.extent.contains(at.address) ? &stretch : nullptr;
}

Stretch* ReservedMemory::find(BlockKey at) {
  return const_cast<Stretch*>(std::as_const(*this).find(at));
}

void ReservedMemory::block_begins(BlockKey at) {
  Stretch* stretch = find(at);
  if (stretch == nullptr) return;
  if (counts_as_idle(*stretch)) --idle_;
  ++stretch->blocks;
}

void ReservedMemory::block_ends(BlockKey at) {
  Stretch* stretch = find(at);
  if (stretch == nullptr || stretch->blocks == 0) return;
  --stretch->blocks;
  if (counts_as_idle(*stretch)) ++idle_;
}

void ReservedMemory::insert(const Stretch& stretch) {
  stretches_.emplace(stretch.key(), stretch);
  total_ += stretch.extent.size;
  if (counts_as_idle(stretch)) ++idle_;
}

void ReservedMemory::erase(std::map<BlockKey, Stretch>::iterator stretch) {
  total_ -= stretch->second.extent.size;
  if (counts_as_idle(stretch->second)) --idle_;
  stretches_.erase(stretch);
}

}  // namespace fragcast
