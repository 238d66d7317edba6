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

void model_calls(benchmark::State& state, const char* model, const std::string& settings) {
  const RunConditions conditions{.model = find_model(model), .settings = settings};
  for ([[maybe_unused]] auto _ : state) {
    Session session{workload(), conditions};
    session.run_to(workload().events.size());
    benchmark::DoNotOptimize(session.totals());
  }
  count_calls(state);
  state.counters["of_reference"] =
      benchmark::Counter(seconds_of_reference(), benchmark::Counter::kIsIterationInvariantRate);
}

constexpr const char* npu = "npu-caching";
constexpr const char* cuda = "cuda-caching";
constexpr const char* expandable = "expandable_segments:True";
constexpr const char* max_split = "max_split_size_mb:128";
BENCHMARK_CAPTURE(model_calls, npu_default, npu, "")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(model_calls, npu_expandable, npu, expandable)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(model_calls, npu_max_split, npu, max_split)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(model_calls, cuda_default, cuda, "")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(model_calls, cuda_expandable, cuda, expandable)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(model_calls, cuda_max_split, cuda, max_split)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fragcast
