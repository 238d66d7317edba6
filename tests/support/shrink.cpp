#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "tests/support/random_trace.hpp"

namespace fragcast {
namespace {

/// What must stay or go together: an allocation, a private pool, a capture, or a single call.
enum class UnitKind : std::uint8_t { allocation, pool, capture, single };
using UnitKey = std::pair<UnitKind, std::size_t>;

struct PoolOf {
  template <class Call>
  std::optional<PoolId> operator()(const Call& call) const {
    if constexpr (requires { call.pool; }) {
      return call.pool;
    } else {
      return std::nullopt;
    }
  }
};

/// Says of each event which unit it belongs to.
class UnitFinder {
 public:
  explicit UnitFinder(const Trace& trace) : trace_{trace} {}

  UnitKey next(std::size_t index) {
    const Event& event = trace_.events[index];
    switch (event.kind) {
      case EventKind::allocate:
      case EventKind::deallocate:
      case EventKind::record_stream:
        return {UnitKind::allocation, event.allocation.index()};
      case EventKind::control:
        return unit_of(trace_.controls[event.detail], index);
      case EventKind::complete_events:
      case EventKind::complete_all:
      case EventKind::snapshot:
      case EventKind::cache_info:
      case EventKind::mark:
      case EventKind::step:
        break;
    }
    return {UnitKind::single, index};
  }

 private:
  UnitKey unit_of(const Control& control, std::size_t index) {
    if (const auto* erase = std::get_if<control::EraseStream>(&control)) {
      return {UnitKind::allocation, erase->allocation.index()};
    }
    if (const auto pool = std::visit(PoolOf{}, control)) return {UnitKind::pool, pool->index()};
    if (std::holds_alternative<control::CaptureBegin>(control)) {
      open_captures_.push_back(index);
      return {UnitKind::capture, index};
    }
    if (std::holds_alternative<control::CaptureEnd>(control) && !open_captures_.empty()) {
      const std::size_t begin = open_captures_.back();
      open_captures_.pop_back();
      return {UnitKind::capture, begin};
    }
    return {UnitKind::single, index};
  }

  const Trace& trace_;
  std::vector<std::size_t> open_captures_;
};

/// Copies events into a new trace, numbering what they name afresh.
class Copier {
 public:
  explicit Copier(const Trace& from) : from_{from} { to_.conditions = from.conditions; }

  void copy(Event event) {
    event.source = static_cast<std::uint32_t>(to_.events.size());
    switch (event.kind) {
      case EventKind::allocate:
      case EventKind::deallocate:
      case EventKind::record_stream:
        event.allocation = renumbered(event.allocation);
        break;
      case EventKind::control:
        event.detail = add_control(from_.controls[event.detail]);
        break;
      case EventKind::mark:
        to_.labels.push_back(from_.labels[event.detail]);
        event.detail = static_cast<std::uint32_t>(to_.labels.size() - 1);
        break;
      case EventKind::complete_events:
      case EventKind::complete_all:
      case EventKind::snapshot:
      case EventKind::cache_info:
      case EventKind::step:
        break;
    }
    to_.events.push_back(event);
  }

  Trace take() {
    to_.source_entries = static_cast<std::uint32_t>(to_.events.size());
    to_.allocations.resize(numbers_.size());
    return std::move(to_);
  }

 private:
  AllocationId renumbered(AllocationId id) {
    return numbers_.try_emplace(id, AllocationId{numbers_.size()}).first->second;
  }

  std::uint32_t add_control(Control control) {
    if (auto* erase = std::get_if<control::EraseStream>(&control)) {
      erase->allocation = renumbered(erase->allocation);
    }
    to_.controls.push_back(std::move(control));
    return static_cast<std::uint32_t>(to_.controls.size() - 1);
  }

  const Trace& from_;
  Trace to_;
  std::map<AllocationId, AllocationId> numbers_;
};

/// Tries to do without stretches of units, long ones first.
class Shrinker {
 public:
  Shrinker(const Trace& trace, const StillFails& still_fails)
      : trace_{trace}, still_fails_{still_fails} {
    UnitFinder finder{trace};
    std::map<UnitKey, std::size_t> units;
    for (std::size_t i = 0; i < trace.events.size(); ++i) {
      unit_of_event_.push_back(units.try_emplace(finder.next(i), units.size()).first->second);
    }
    kept_.resize(units.size());
    std::iota(kept_.begin(), kept_.end(), std::size_t{0});
  }

  Trace run() {
    std::size_t length = std::max<std::size_t>(kept_.size() / 2, 1);
    while (true) {
      const bool shorter = leave_out_stretches(length);
      if (length == 1 && !shorter) return trace_of(kept_);
      length = std::max<std::size_t>(length / 2, 1);
    }
  }

 private:
  bool leave_out_stretches(std::size_t length) {
    bool shorter = false;
    // From the back: what comes late is needed least.
    for (std::size_t end = kept_.size(); end > 0; end -= std::min(end, length)) {
      const std::size_t begin = end - std::min(end, length);
      std::vector<std::size_t> fewer = kept_;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(begin),
                  fewer.begin() + static_cast<std::ptrdiff_t>(end));
      if (!still_fails_(trace_of(fewer))) continue;
      kept_ = std::move(fewer);
      shorter = true;
    }
    return shorter;
  }

  Trace trace_of(const std::vector<std::size_t>& units) const {
    Copier copier{trace_};
    for (std::size_t i = 0; i < trace_.events.size(); ++i) {
      if (std::binary_search(units.begin(), units.end(), unit_of_event_[i])) {
        copier.copy(trace_.events[i]);
      }
    }
    return copier.take();
  }

  const Trace& trace_;
  const StillFails& still_fails_;
  std::vector<std::size_t> unit_of_event_;
  /// Ascending.
  std::vector<std::size_t> kept_;
};

}  // namespace

Trace shrink(const Trace& trace, const StillFails& still_fails) {
  return Shrinker{trace, still_fails}.run();
}

}  // namespace fragcast
