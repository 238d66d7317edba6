#include "replay/compare/pins.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "replay/trace/site.hpp"

namespace fragcast {
namespace {

/// What can be given back on its own: a segment, or a page. `blocks` overlap it.
struct Unit {
  Extent extent;
  Bytes free;
  Bytes held;
  /// Of the blocks that live there; absent while none was met.
  std::optional<std::optional<FrameId>> site;
  bool shared = false;

  explicit Unit(Extent covered) : extent{covered} {}
};

class PinFinder {
 public:
  explicit PinFinder(const Trace& trace) : trace_{trace} {}

  void look_at(const SegmentPicture& segment) {
    const Bytes unit_size = segment.expandable() ? segment.page_size : segment.size;
    Unit unit{{segment.address, unit_size}};
    for (const BlockPicture& block : segment.blocks) {
      Address at = block.address;
      const Address end = block.address + block.size;
      while (at < end) {
        const Address until = std::min(end, unit.extent.end());
        add(unit, block, until - at);
        at = until;
        if (at != unit.extent.end()) continue;
        finish(unit);
        unit = Unit{{at, unit_size}};
      }
    }
  }

  [[nodiscard]] std::vector<Pin> largest(std::size_t count) const {
    std::vector<Pin> pins;
    for (const auto& [site, pin] : pins_) pins.push_back(pin);
    std::stable_sort(
        pins.begin(), pins.end(), [](const Pin& a, const Pin& b) { return a.free > b.free; });
    if (pins.size() > count) pins.resize(count);
    return pins;
  }

 private:
  void add(Unit& unit, const BlockPicture& block, Bytes part) {
    if (block.state == BlockState::free) {
      unit.free += part;
      return;
    }
    unit.held += part;
    const std::optional<FrameId> site = site_of(block);
    if (unit.site && *unit.site != site) unit.shared = true;
    unit.site = site;
  }

  void finish(const Unit& unit) {
    if (unit.free == Bytes{0} || !unit.site || unit.shared) return;
    Pin& pin = pins_[*unit.site];
    pin.site = *unit.site;
    ++pin.segments;
    pin.held += unit.held;
    pin.free += unit.free;
  }

  [[nodiscard]] std::optional<FrameId> site_of(const BlockPicture& block) {
    if (!block.allocation || block.allocation->index() >= trace_.allocations.size()) return {};
    const StackId stack = trace_.allocations[block.allocation->index()].stack;
    const auto known = sites_.find(stack);
    if (known != sites_.end()) return known->second;
    return sites_.emplace(stack, call_site(trace_.stacks, stack)).first->second;
  }

  const Trace& trace_;
  std::map<std::optional<FrameId>, Pin> pins_;
  std::map<StackId, std::optional<FrameId>> sites_;
};

}  // namespace

std::vector<Pin> find_pins(const Layout& heap, const Trace& trace, std::size_t count) {
  PinFinder finder{trace};
  for (const SegmentPicture& segment : heap.segments) finder.look_at(segment);
  return finder.largest(count);
}

}  // namespace fragcast
