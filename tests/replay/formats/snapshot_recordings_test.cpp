// Real recordings, held against what Python's own pickle module finds in them.

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "replay/formats/snapshot_reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/recordings.hpp"

namespace fragcast {
namespace {

// Sanitizers slow reading down tenfold.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t step = 100'000;
#else
constexpr std::size_t step = 10'000;
#endif

/// What a recording holds.
struct Facts {
  std::string_view file;
  std::uint64_t entries = 0;
  std::int64_t allocated = 0;   ///< sum of the sizes of `alloc` entries
  std::uint64_t addresses = 0;  ///< of all entries in order, as digits to the base 31
  std::uint64_t segments = 0;
  std::uint64_t blocks = 0;
  std::int64_t live = 0;       ///< requested bytes of blocks that are not inactive
  std::uint64_t frames = 0;    ///< that differ
  std::uint64_t stacks = 0;    ///< that differ and are not empty
  std::uint64_t suffixes = 0;  ///< of these stacks, that differ
};

// clang-format off
constexpr Facts recorded[] = {
    {"cuda_private_pools_state_only.pickle", 0, 0, 0, 127, 638, 25483614352, 248, 31, 1539},
    {"cuda_small.pickle", 97, 8091861260, 15736987443857063936u, 9, 20, 31719428, 245, 42, 924},
    {"cuda_torch20_state_only.pickle", 1, 0, 0, 176, 463, 11840159744, 12, 3, 16},
    {"cuda_training.pickle",
     19464, 44829606765, 12041897736721441280u, 999, 1987, 15568596996, 558, 180, 4287},
    {"generated/logu_ms64_seed206.pickle",
     6277, 313926251845, 12066057340928859648u, 174, 397, 36442883823, 0, 0, 0},
    {"generated/multi_default_seed601.pickle",
     7731, 51173946112, 6704239162928622080u, 16, 34, 277186259, 0, 0, 0},
    {"generated/multi_exp_seed607.pickle",
     6544, 41460572492, 1841629240318606336u, 11, 36, 328744435, 0, 0, 0},
    {"generated/oom_default_seed712.pickle",
     5929, 60316607138, 3017318581107547136u, 33, 222, 4176860992, 0, 0, 0},
    {"generated/oom_exp_seed711.pickle",
     6404, 76684828945, 5084908880967452672u, 22, 268, 5837125112, 0, 0, 0},
    {"generated/oom_frac05_seed722.pickle",
     4453, 50994756170, 15278981665198317056u, 22, 187, 4763669687, 0, 0, 0},
    {"generated/poolmulti_default_seed907.pickle",
     5301, 11145869347, 6033248983283534336u, 130, 627, 2472514154, 0, 0, 0},
    {"generated/serve_exp_seed804.pickle",
     9064, 117147812581, 16266863478143713280u, 3, 225, 23601513657, 0, 0, 0},
    {"generated/varlen_exp_seed802.pickle",
     12609, 66031416478, 1916775186150944256u, 2, 404, 8521175040, 0, 0, 0},
    {"generated/varlen_ms128_seed718.pickle",
     12204, 53226855568, 10267203655261789696u, 164, 424, 8521175040, 0, 0, 0},
    {"npu_leak_empty_cache.pickle",
     8180, 4747481944, 1934162388484591616u, 34, 685, 408384288, 67, 60, 251},
    {"npu_leak_expandable.pickle",
     8092, 4747481944, 11911057580454085632u, 2, 717, 408384288, 62, 59, 246},
    {"npu_training.pickle", 9700, 4715979816, 17829830958330503168u, 52, 52, 0, 67, 65, 263},
};
// clang-format on

std::optional<std::filesystem::path> trace(std::string_view file) {
  return recording(fmt::format("traces/{}", file));
}

Facts facts_of(const Recording& recording, std::string_view file) {
  Facts facts{.file = file};
  std::set<StackId> stacks;
  for (const RecordedDevice& device : recording.devices) {
    facts.entries += device.entries.size();
    facts.segments += device.segments.size();
    for (const RecordedEntry& entry : device.entries) {
      stacks.insert(entry.stack);
      facts.addresses = facts.addresses * 31 + entry.address.value();
      if (entry.action == RecordedAction::alloc) facts.allocated += entry.size.count();
    }
    for (const RecordedSegment& segment : device.segments) {
      stacks.insert(segment.stack);
      facts.blocks += segment.blocks.size();
      for (const RecordedBlock& block : segment.blocks) {
        stacks.insert(block.stack);
        if (block.state != RecordedState::inactive) facts.live += block.requested.count();
      }
    }
  }
  stacks.erase(StackId{});
  facts.frames = recording.stacks.frame_count();
  facts.stacks = stacks.size();
  facts.suffixes = recording.stacks.stack_count();
  return facts;
}

std::string describe(const Facts& facts) {
  return fmt::format(
      "{}: {} entries, allocated {}, addresses {}, {} segments, {} blocks, live {}, "
      "{} frames, {} stacks, {} suffixes",
      facts.file,
      facts.entries,
      facts.allocated,
      facts.addresses,
      facts.segments,
      facts.blocks,
      facts.live,
      facts.frames,
      facts.stacks,
      facts.suffixes);
}

std::string contents(const std::filesystem::path& path) {
  std::ostringstream bytes;
  bytes << std::ifstream{path, std::ios::binary}.rdbuf();
  return bytes.str();
}

TEST_CASE("recordings are read as Python reads them", "[snapshot][recordings]") {
  for (const Facts& expected : recorded) {
    const auto path = trace(expected.file);
    if (!path) return;
    const Recording recording = read_snapshot_file(path->string());
    CHECK(describe(facts_of(recording, expected.file)) == describe(expected));
    CHECK(recording.unknown_keys.empty());
    CHECK(recording.unknown_actions.empty());
    CHECK(recording.source.protocol == 4);
  }
}

TEST_CASE("recordings show where they come from", "[snapshot][recordings]") {
  const auto cuda = trace("cuda_training.pickle");
  const auto old = trace("cuda_torch20_state_only.pickle");
  const auto pools = trace("cuda_private_pools_state_only.pickle");
  const auto npu = trace("npu_training.pickle");
  const auto several = trace("npu_leak_empty_cache.pickle");
  if (!cuda || !old || !pools || !npu || !several) return;

  const Recording training = read_snapshot_file(cuda->string());
  REQUIRE(training.settings);
  CHECK(training.settings->variable == "PYTORCH_CUDA_ALLOC_CONF");
  CHECK(training.streams == std::vector<std::uint64_t>{0});
  CHECK(training.devices.at(0).times_us.size() == training.devices.at(0).entries.size());

  CHECK(read_snapshot_file(old->string()).source.layer == "snapshot of torch 2.0");
  CHECK(read_snapshot_file(pools->string()).pools.size() == 3);

  const Recording training_on_npu = read_snapshot_file(npu->string());
  CHECK_FALSE(training_on_npu.settings);
  CHECK(training_on_npu.streams == std::vector<std::uint64_t>{1534455456});
  CHECK(training_on_npu.devices.at(0).times_us.empty());

  const Recording leak = read_snapshot_file(several->string());
  CHECK(leak.devices.size() == 8);
  CHECK(std::count_if(leak.devices.begin(), leak.devices.end(), [](const RecordedDevice& device) {
          return !device.empty();
        }) == 1);
}

TEST_CASE("a recording cut at any tenth kilobyte is refused", "[snapshot][recordings]") {
  for (const Facts& facts : recorded) {
    const auto path = trace(facts.file);
    if (!path) return;
    const std::string whole = contents(*path);
    for (std::size_t size = 0; size < whole.size(); size += step) {
      INFO(facts.file << " cut at " << size);
      ByteSource source{memory_stream(std::string_view{whole}.substr(0, size)), "cut"};
      CHECK_THROWS_AS(read_snapshot(source), InputError);
    }
  }
}

TEST_CASE("a cut recording with all segments is salvaged as far as it goes",
          "[snapshot][recordings]") {
  const auto path = trace("npu_training.pickle");
  if (!path) return;
  const std::string whole = contents(*path);
  const Recording complete = read_snapshot_file(path->string());
  std::size_t last = 0;
  for (std::size_t size = whole.size() / 4; size < whole.size(); size += step) {
    ByteSource source{memory_stream(std::string_view{whole}.substr(0, size)), "cut"};
    const Recording cut = read_snapshot(source, {.cut = CutSnapshot::salvage});
    CHECK(cut.cut_at == size);
    REQUIRE(cut.devices.size() == 1);
    CHECK(cut.devices[0].segments.size() == 52);
    const auto& entries = cut.devices[0].entries;
    REQUIRE(entries.size() > last);
    last = entries.size();
    CHECK(entries.back().address == complete.devices[0].entries[last - 1].address);
  }
  CHECK(last > complete.devices[0].entries.size() * 3 / 4);
}

}  // namespace
}  // namespace fragcast
