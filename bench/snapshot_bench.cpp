#include <benchmark/benchmark.h>

#include <cstdint>
#include <sstream>
#include <string>

#include "bench/snapshot_generator.hpp"
#include "replay/formats/snapshot_reader.hpp"

// Bytes per second of the snapshot reader, on recordings that resemble real ones.

namespace fragcast {
namespace {

std::string snapshot(SnapshotStyle style) {
  std::ostringstream out;
  generate_snapshot({.style = style, .events = 200'000, .seed = 1}, out);
  return out.str();
}

void read_snapshot(benchmark::State& state, SnapshotStyle style) {
  const std::string bytes = snapshot(style);
  for ([[maybe_unused]] auto _ : state) {
    ByteSource source = open_source(bytes, "snapshot");
    benchmark::DoNotOptimize(fragcast::read_snapshot(source));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
}
BENCHMARK_CAPTURE(read_snapshot, cuda, SnapshotStyle::cuda)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_snapshot, npu, SnapshotStyle::npu)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fragcast
