#include <sstream>
#include <string>

#include "replay/engine/replay.hpp"
#include "replay/formats/byte_source.hpp"
#include "replay/formats/snapshot_reader.hpp"
#include "replay/formats/snapshot_writer.hpp"
#include "replay/trace/normalise.hpp"
#include "replay/verify/refine_start.hpp"
#include "replay/verify/verify.hpp"
#include "sim/observe/draw.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/record.hpp"
#include "tests/support/recordings.hpp"

using namespace fragcast;

namespace {

const ModelEntry& model() { return *find_model("cuda-caching"); }

struct RealRecording {
  std::string name;
  std::size_t allocations = 0;
  std::size_t segment_events = 0;
  std::size_t live_at_start = 0;
  Bytes peak_reserved;
};

/// A recording as a file holds it, and as it is read back.
Recording through_a_file(const Recording& recording) {
  std::ostringstream file;
  write_snapshot(recording, recording.stacks, file);
  ByteSource source = open_source(file.str(), "simulated");
  return read_snapshot(source);
}

std::size_t live_blocks(const Layout& heap) {
  std::size_t live = 0;
  for (const SegmentPicture& segment : heap.segments) {
    for (const BlockPicture& block : segment.blocks) {
      if (block.state != BlockState::free) ++live;
    }
  }
  return live;
}

Normalised normalised(const Recording& recording) {
  return normalise(recording, recording.devices.front(), {.model = "cuda-caching"});
}

}  // namespace

TEST_CASE("recordings of real CUDA devices are reproduced to the last address") {
  for (const RealRecording& expected : {RealRecording{.name = "cuda_small",
                                       .allocations = 36,
                                       .segment_events = 9,
                                       .live_at_start = 0,
                                       .peak_reserved = Bytes{3'781'165'056}},
                                        RealRecording{.name = "cuda_training",
                                        .allocations = 6488,
                                        .segment_events = 0,
                                        .live_at_start = 1313,
                                        .peak_reserved = Bytes{23'842'521'088}}}) {
    const auto file = recording("traces/" + expected.name + ".pickle");
    if (!file) return;
    INFO(expected.name);
    const Recording recording = read_snapshot_file(file->string());
    const Normalised history = normalise(recording, recording.devices.front(), {});
    CHECK(history.conditions.model == "cuda-caching");
    CHECK(history.anomalies.total() == 0);
    CHECK(live_blocks(history.trace.initial.heap) == expected.live_at_start);
    const Verification result = verify(history, model());
    CHECK(result.perfect());
    CHECK(result.addresses.of == expected.allocations);
    CHECK(result.segment_events.of == expected.segment_events);
    CHECK(result.reserved_max_error == 0_B);

    RunSpec spec;
    spec.model = &model();
    spec.start = Start::warm;
    CHECK(replay(history.trace, spec).peak.reserved == expected.peak_reserved);
  }
}

TEST_CASE("a CUDA recording whose start hides a rest is reproduced once a request shows it") {
  // c takes the front of b's old segment and keeps the rest before d, less than 1 MiB. d is free
  // when the recording begins; e wants a block that would only fit if c's rest were free, too.
  const Recording whole = through_a_file(record_script(R"(
    malloc b 9MiB 0
    malloc d 8MiB 0
    free b
    malloc c 8300KiB 0
    free d
    malloc e 11600KiB 0
    free c
    malloc f 9MiB 0)",
                                                       "cuda-caching"));
  // Entries: segment, b, d, 2 x free b, c, 2 x free d.
  Normalised history = normalised(without_head(whole, whole.devices.front(), 8));
  CHECK(history.recorded.uncertain_sizes == std::vector{AllocationId{0u}});
  CHECK_FALSE(verify(history, model()).perfect());
  CHECK(refine_start(history, model()) == 1);
  // The least that explains it: the rest's true end is in no entry.
  CHECK(draw_blocks(history.trace.initial.heap.segments.front()) == "[A 9093632][. 11877888]");
  CHECK(verify(history, model()).perfect());
}

TEST_CASE("a CUDA recording whose start hides a rest is reproduced by the address behind it") {
  const Recording whole = through_a_file(record_script(R"(
    malloc b 9MiB 0
    malloc d 8MiB 0
    free b
    malloc c 8800KiB 0
    free d
    malloc e 2MiB 0
    free c
    malloc f 9MiB 0)",
                                                       "cuda-caching"));
  const Normalised history = normalised(without_head(whole, whole.devices.front(), 8));
  CHECK(draw_blocks(history.trace.initial.heap.segments.front()) == "[A 9M][. 11M]");
  CHECK(verify(history, model()).perfect());
}

TEST_CASE("settings that only a later release knows choose that release") {
  Recording recording = record_script(R"(
    malloc a 3MiB 0
    malloc b 3MiB 0)",
                                      "cuda-caching");
  recording.settings.emplace();
  recording.settings->variable = "PYTORCH_CUDA_ALLOC_CONF";
  recording.settings->text = "large_segment_size_mb:64";
  const Normalised history = normalise(recording, recording.devices.front(), {});
  REQUIRE(history.conditions.release != nullptr);
  CHECK(history.conditions.release->name == "2.10");
  CHECK(history.conditions.settings.large_segment_size == 64_MiB);
}
