#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "bench/best_fit_reference.hpp"
#include "bench/workload.hpp"
#include "replay/engine/session.hpp"

// Calls per second of the models, and as a ratio to the yardstick on the same trace and machine.

namespace fragcast {
namespace {

const Trace& workload() {
  static const Trace trace = mixed_workload({.requests = 1'000'000});
  return trace;
}

void run_reference() {
  BestFitReference reference;
  for (const Event& event : workload().events) {
    if (event.kind == EventKind::allocate) {
      benchmark::DoNotOptimize(reference.allocate(event.allocation, event.size));
    } else {
      reference.deallocate(event.allocation);
    }
  }
}

double seconds_of_reference() {
  using Clock = std::chrono::steady_clock;
  static const double seconds = [] {
    run_reference();  // warms the caches
    const auto start = Clock::now();
    run_reference();
    return std::chrono::duration<double>(Clock::now() - start).count();
  }();
  return seconds;
}

void count_calls(benchmark::State& state) {
  const auto calls = static_cast<std::int64_t>(workload().events.size());
  state.SetItemsProcessed(state.iterations() * calls);
}

void best_fit_reference(benchmark::State& state) {
  for ([[maybe_unused]] auto _ : state) run_reference();
  count_calls(state);
}
BENCHMARK(best_fit_reference)->Unit(benchmark::kMillisecond);

void npu_caching(benchmark::State& state, const std::string& settings) {
  const RunConditions conditions{.model = find_model("npu-caching"), .settings = settings};
  for ([[maybe_unused]] auto _ : state) {
    Session session{workload(), conditions};
    session.run_to(workload().events.size());
    benchmark::DoNotOptimize(session.totals());
  }
  count_calls(state);
  state.counters["of_reference"] =
      benchmark::Counter(seconds_of_reference(), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_CAPTURE(npu_caching, default, "")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(npu_caching, expandable, "expandable_segments:True")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(npu_caching, max_split, "max_split_size_mb:128")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fragcast
