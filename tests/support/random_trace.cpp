#include "tests/support/random_trace.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <random>
#include <sstream>
#include <utility>

#include "replay/formats/call_script.hpp"
#include "tests/support/trace_builder.hpp"

namespace fragcast {
namespace {

// Sizes at which the caching allocators change their ways, give or take the padding.
constexpr std::array borders{512_B, 1_MiB, 2_MiB, 10_MiB, 20_MiB, 32_MiB, 64_MiB};

class Generator {
 public:
  Generator(const TraceShape& shape, const Choose& choose) : shape_{shape}, choose_{choose} {
    if (shape_.stream_uses) add_extra(3, &Generator::record_stream);
    if (shape_.stream_uses) add_extra(2, &Generator::finish_work);
    if (shape_.stream_uses) add_extra(1, &Generator::erase_stream);
    if (shape_.empty_caches) add_extra(1, &Generator::empty_cache);
    if (shape_.empty_virtual_caches) add_extra(1, &Generator::empty_virtual_cache);
    if (shape_.pools) add_extra(4, &Generator::change_pool);
    if (shape_.captures) add_extra(2, &Generator::change_capture);
    if (shape_.fraction_changes) add_extra(1, &Generator::change_fraction);
    if (shape_.statistics_resets) add_extra(1, &Generator::reset_statistics);
    if (!shape_.settings_changes.empty()) add_extra(1, &Generator::change_settings);
  }

  Trace run() {
    while (builder_.trace().events.size() < shape_.calls) add_call();
    if (shape_.winds_down) wind_down();
    Trace trace = std::move(builder_.trace());
    trace.conditions = {};
    trace.source_entries = static_cast<std::uint32_t>(trace.events.size());
    trace.allocations.resize(allocations_);
    return trace;
  }

 private:
  struct PoolUse {
    int references = 0;
    int scopes = 0;
  };
  using Extra = void (Generator::*)();

  void add_extra(std::size_t weight, Extra extra) { extras_.insert(extras_.end(), weight, extra); }

  [[nodiscard]] bool one_in(std::uint64_t n) { return choose_(n) == 0; }
  [[nodiscard]] StreamId stream() {
    // The first stream does most of the work, as in life.
    return one_in(2) ? StreamId{std::uint16_t{0}}
                     : StreamId{static_cast<std::uint16_t>(choose_(shape_.streams))};
  }
  [[nodiscard]] AllocationId& any_live() { return live_[choose_(live_.size())]; }

  void add_call() {
    const std::uint64_t roll = choose_(100);
    if (roll >= 85 && !extras_.empty()) {
      (this->*extras_[choose_(extras_.size())])();
    } else if (roll < 45 || live_.empty()) {
      allocate();
    } else {
      free_one();
    }
  }

  Bytes size() {
    switch (choose_(8)) {
      case 0:
        return borders[choose_(borders.size())] + Bytes{32} -
               Bytes{1} * static_cast<int>(choose_(65));
      case 1:
      case 2:
      case 3:
        // Sizes come again: that is what a cache is for, and ties are where mistakes hide.
        if (!sizes_.empty()) return sizes_[choose_(sizes_.size())];
        [[fallthrough]];
      default: {
        const auto doublings =
            std::bit_width(static_cast<std::uint64_t>(shape_.largest_request.count()));
        const std::uint64_t bound = std::uint64_t{1}
                                    << choose_(static_cast<std::uint64_t>(doublings));
        return Bytes{static_cast<std::int64_t>(bound + choose_(bound))};
      }
    }
  }

  void allocate() {
    const Bytes bytes = one_in(100) ? Bytes{0} : std::min(size(), shape_.largest_request);
    sizes_.push_back(bytes);
    live_.push_back(builder_.allocate(bytes, stream()));
    ++allocations_;
  }

  void free_one() {
    AllocationId& id = any_live();
    builder_.deallocate(id);
    id = live_.back();
    live_.pop_back();
  }

  void record_stream() {
    if (!live_.empty()) builder_.record_stream(any_live(), stream());
  }

  void erase_stream() {
    if (live_.empty()) return;
    const AllocationId id = any_live();
    builder_.apply(control::EraseStream{.allocation = id, .owner = stream(), .stream = stream()});
  }

  void finish_work() {
    switch (choose_(3)) {
      case 0:
        return builder_.complete_events(stream());
      case 1:
        builder_.add(EventKind::complete_all);
        return;
      default:
        return builder_.apply(control::Synchronize{});
    }
  }

  void empty_cache() { builder_.apply(control::EmptyCache{}); }
  void empty_virtual_cache() { builder_.apply(control::EmptyVirtualAddressCache{}); }

  void change_pool() {
    const PoolId pool{static_cast<std::uint32_t>(1 + choose_(3))};
    PoolUse& use = pools_[pool];
    switch (choose_(8)) {
      case 0:
      case 1:
        ++use.references;
        ++use.scopes;
        return builder_.apply(control::PoolBegin{pool});
      case 2:
      case 3:
        if (use.scopes > 0) end_scope(pool);
        return;
      case 4:
        if (use.references > use.scopes) release(pool);
        return;
      case 5:
        return builder_.apply(control::PoolEmpty{pool});
      case 6:
        return builder_.apply(control::PoolUseOnOom{.pool = pool, .enabled = one_in(2)});
      default:
        return builder_.apply(control::PoolNoSplit{.pool = pool, .enabled = one_in(2)});
    }
  }

  void end_scope(PoolId pool) {
    --pools_[pool].scopes;
    builder_.apply(control::PoolEnd{pool});
  }

  void release(PoolId pool) {
    --pools_[pool].references;
    builder_.apply(control::PoolRelease{pool});
  }

  void change_capture() {
    if (in_capture_) {
      builder_.apply(control::CaptureEnd{});
    } else {
      builder_.apply(control::CaptureBegin{});
    }
    in_capture_ = !in_capture_;
  }

  void change_fraction() {
    builder_.apply(control::SetFraction{static_cast<double>(5 + choose_(6)) / 10.0});
  }

  void reset_statistics() {
    if (one_in(2)) {
      builder_.apply(control::ResetPeak{});
    } else {
      builder_.apply(control::ResetAccumulated{});
    }
  }

  void change_settings() {
    const std::vector<std::string>& changes = shape_.settings_changes;
    builder_.apply(control::ChangeSettings{changes[choose_(changes.size())]});
  }

  void wind_down() {
    if (in_capture_) change_capture();
    while (!live_.empty()) free_one();
    for (auto& [pool, use] : pools_) {
      while (use.scopes > 0) end_scope(pool);
      while (use.references > 0) release(pool);
    }
    builder_.add(EventKind::complete_all);
    empty_cache();
  }

  const TraceShape& shape_;
  const Choose& choose_;
  TraceBuilder builder_;
  /// Each as often as it is likely.
  std::vector<Extra> extras_;
  std::vector<AllocationId> live_;
  std::vector<Bytes> sizes_;
  std::size_t allocations_ = 0;
  std::map<PoolId, PoolUse> pools_;
  bool in_capture_ = false;
};

}  // namespace

Choose choose_by_seed(std::uint64_t seed) {
  // The engine's sequence is the standard's; its distributions are not, and differ by library.
  return [engine = std::mt19937_64{seed}](std::uint64_t bound) mutable { return engine() % bound; };
}

Choose choose_by_bytes(std::span<const std::uint8_t> bytes) {
  return [bytes](std::uint64_t bound) mutable {
    std::uint64_t value = 0;
    for (std::uint64_t reach = 1; reach < bound && !bytes.empty(); reach *= 256) {
      value = value * 256 + bytes.front();
      bytes = bytes.subspan(1);
    }
    return value % bound;
  };
}

Trace random_trace(const TraceShape& shape, const Choose& choose) {
  return Generator{shape, choose}.run();
}

std::string script_of(const Trace& trace) {
  std::ostringstream script;
  write_call_script(trace, script);
  return script.str();
}

}  // namespace fragcast
