#include "replay/steps/step_table.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "replay/engine/session.hpp"
#include "replay/formats/input_error.hpp"

namespace fragcast {
namespace {

constexpr std::size_t never = static_cast<std::size_t>(-1);

/// When an allocation lived, in steps: 0 is before the first one.
struct Life {
  std::size_t born = never;
  std::size_t freed = never;
  Bytes size;
  StackId stack;
};

/// Allocations of one call site and size.
using Kind = std::tuple<StackId, Bytes>;

/// The lives of all allocations of a trace, those of its start included.
class Lives {
 public:
  explicit Lives(const Trace& trace) : lives_(trace.allocations.size()) {
    for (const SegmentPicture& segment : trace.initial.heap.segments) {
      for (const BlockPicture& block : segment.blocks) {
        if (block.allocation) begin(trace, *block.allocation, block.requested, 0);
      }
    }
    for (const InitialState::Pending& pending : trace.initial.pending) end(pending.allocation, 0);
    std::size_t step = 0;
    for (std::size_t i = 0; i < trace.events.size(); ++i) {
      while (step < trace.steps.count() && trace.steps.begins[step] <= i) ++step;
      const Event& event = trace.events[i];
      if (event.kind == EventKind::allocate && !event.failed_in_recording) {
        begin(trace, event.allocation, event.size, step);
      } else if (event.kind == EventKind::deallocate) {
        end(event.allocation, step);
      }
    }
  }

  [[nodiscard]] const std::vector<Life>& all() const { return lives_; }

 private:
  void begin(const Trace& trace, AllocationId id, Bytes size, std::size_t step) {
    lives_[id.index()] = {
        .born = step, .freed = never, .size = size, .stack = trace.allocations[id.index()].stack};
  }
  void end(AllocationId id, std::size_t step) { lives_[id.index()].freed = step; }

  std::vector<Life> lives_;
};

bool outlives(const Life& life, std::size_t step) {
  return life.freed == never || life.freed > step;
}

/// Which kinds leave something behind in every full step after the first. The last step is full
/// only if it is as long as others are, so it proves nothing.
std::map<Kind, bool> growing_kinds(const std::vector<Life>& lives, std::size_t steps) {
  std::map<Kind, std::vector<std::size_t>> seen;
  for (const Life& life : lives) {
    if (life.born == never || life.born < 2 || life.freed != never) continue;
    std::vector<std::size_t>& in = seen[{life.stack, life.size}];
    if (in.empty() || in.back() != life.born) in.push_back(life.born);
  }
  const std::size_t full = steps > 3 ? steps - 2 : std::max<std::size_t>(steps, 2) - 1;
  std::map<Kind, bool> growing;
  for (const auto& [kind, in] : seen) growing[kind] = in.size() >= full;
  return growing;
}

void count_survivors(const std::vector<Life>& lives, std::size_t steps, StepTable& table) {
  const std::map<Kind, bool> growing = growing_kinds(lives, steps);
  const auto grows = [&](const Life& life) {
    const auto found = growing.find({life.stack, life.size});
    return found != growing.end() && found->second;
  };
  for (const Life& life : lives) {
    if (life.born == never || !outlives(life, life.born)) continue;
    Survivors& survivors =
        life.born == 0 ? table.before.survivors : table.steps[life.born - 1].survivors;
    if (life.freed == life.born + 1) {
      survivors.carried += life.size;
    } else if (life.freed == never && grows(life)) {
      survivors.growing += life.size;
    } else {
      survivors.once += life.size;
    }
  }
}

Bytes live_after(const std::vector<Life>& lives, std::size_t step) {
  Bytes live;
  for (const Life& life : lives) {
    if (life.born != never && life.born <= step && outlives(life, step)) live += life.size;
  }
  return live;
}

/// Follows a replay through one step.
class StepObserver {
 public:
  explicit StepObserver(const Session& session)
      : session_{session}, device_allocs_{session.totals().device_allocs} {
    look();
  }

  void look() {
    const Usage usage = current_usage(session_.model().statistics());
    row_.peak_allocated = std::max(row_.peak_allocated, usage.allocated);
    if (usage.reserved > row_.peak_reserved) {
      row_.peak_reserved = usage.reserved;
      row_.gap_at_peak = usage.reserved - usage.requested;
    }
  }
  StepRow finish() {
    row_.device_allocs = session_.totals().device_allocs - device_allocs_;
    return row_;
  }

 private:
  const Session& session_;
  std::int64_t device_allocs_;
  StepRow row_;
};

bool is_request(const Event& event) {
  return event.kind == EventKind::allocate || event.kind == EventKind::deallocate;
}

}  // namespace

StepTable measure_steps(const Trace& trace, const RunConditions& conditions) {
  Session session{trace, conditions};
  if (!session.refusal().empty()) throw InputError{{}, session.refusal()};
  StepTable table;
  std::uint64_t request = 0;
  const auto run_part = [&](std::size_t end) {
    StepObserver observer{session};
    const std::uint64_t before = request;
    while (session.position() < end) {
      if (is_request(session.next())) ++request;
      session.step();
      observer.look();
    }
    StepRow row = observer.finish();
    row.first_request = before + 1;
    row.last_request = request;
    return row;
  };
  const std::size_t steps = trace.steps.count();
  table.before = run_part(steps > 0 ? trace.steps.begin_of(1) : trace.events.size());
  for (std::size_t number = 1; number <= steps; ++number) {
    table.steps.push_back(run_part(trace.steps.end_of(number, trace.events.size())));
  }
  const Lives lives{trace};
  count_survivors(lives.all(), steps, table);
  table.before.live_at_end = live_after(lives.all(), 0);
  for (std::size_t number = 1; number <= steps; ++number) {
    table.steps[number - 1].live_at_end = live_after(lives.all(), number);
  }
  return table;
}

}  // namespace fragcast
