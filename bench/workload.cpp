#include "bench/workload.hpp"

#include <random>
#include <utility>
#include <vector>

namespace fragcast {
namespace {

class WorkloadWriter {
 public:
  explicit WorkloadWriter(const WorkloadShape& shape) : shape_{shape}, random_{shape.seed} {}

  Trace write() {
    while (trace_.events.size() < shape_.requests) {
      // Once enough is live, as many frees as allocations.
      const bool warm = live_.size() >= shape_.live;
      if (warm && below(2) == 0) {
        deallocate_one();
      } else {
        allocate_one();
      }
    }
    return std::move(trace_);
  }

 private:
  /// Distributions of the standard library differ between libraries; this one does not.
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  void allocate_one() {
    const std::uint64_t power = 9 + below(17);
    const AllocationId id{trace_.allocations.size()};
    trace_.allocations.emplace_back();
    live_.push_back(id);
    write({.size = Bytes{static_cast<std::int64_t>((1U << power) + below(1U << power))},
           .allocation = id,
           .stream = StreamId{static_cast<std::uint16_t>(below(shape_.streams))},
           .kind = EventKind::allocate});
  }

  void deallocate_one() {
    std::swap(live_[below(live_.size())], live_.back());
    write({.allocation = live_.back(), .kind = EventKind::deallocate});
    live_.pop_back();
  }

  void write(Event event) {
    event.source = static_cast<std::uint32_t>(trace_.events.size());
    trace_.events.push_back(event);
  }

  WorkloadShape shape_;
  std::mt19937_64 random_;
  std::vector<AllocationId> live_;
  Trace trace_;
};

}  // namespace

Trace mixed_workload(const WorkloadShape& shape) { return WorkloadWriter{shape}.write(); }

}  // namespace fragcast
