#include "replay/formats/snapshot_writer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "replay/formats/snapshot_reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/recording_text.hpp"
#include "tests/support/unpickle.hpp"

namespace fragcast {
namespace {

using nlohmann::json;

std::string written(const Recording& recording) {
  std::ostringstream out;
  write_snapshot(recording, recording.stacks, out);
  return out.str();
}

Recording read_back(std::string_view snapshot) {
  ByteSource source = open_source(snapshot, "written");
  return read_snapshot(source);
}

StackId stack_of(CallStacks& stacks, std::string_view function, StackId caller = StackId{}) {
  return stacks.intern(caller,
                       stacks.intern(Frame{.function = stacks.intern(function),
                                           .file = stacks.intern("/home/me/train.py"),
                                           .line = 12}));
}

/// Something of everything that a recording can hold.
Recording rich_recording() {
  Recording recording = recording_from_text(
      "segment_alloc 0x100000000000 2MiB\n"
      "alloc 0x100000000000 100\n"
      "free_requested 0x100000000000 100\n"
      "free_completed 0x100000000000 100\n"
      "segment_map 0x200000000000 20MiB stream=7 pool=1\n"
      "alloc 0x200000000000 3MiB stream=7 pool=1\n"
      "segment_unmap 0x200001400000 20MiB stream=7 pool=1\n"
      "segment_free 0x100000200000 2MiB\n"
      "oom 30MiB 5GiB\n"
      "snapshot\n"
      "segment 0x100000000000 2MiB small\n"
      "block 0x100000000000 2MiB 100 inactive\n"
      "segment 0x200000000000 20MiB large expandable stream=7 pool=1\n"
      "block 0x200000000000 3MiB+512 3MiB allocated\n"
      "block 0x200000000000+3MiB+512 512 5 pending\n"
      "block 0x200000000000+3MiB+1KiB 17824768 0 inactive\n");
  RecordedDevice& device = recording.devices.front();
  const StackId main = stack_of(recording.stacks, "main");
  const StackId step = stack_of(recording.stacks, "step", main);
  device.entries[1].stack = step;
  device.entries[2].stack = step;
  device.entries[5].stack = main;
  device.segments[0].stack = step;
  device.segments[1].blocks[0].stack = main;
  for (std::size_t i = 0; i < device.entries.size(); ++i) {
    device.times_us.push_back(static_cast<std::int64_t>(1000 + i));
  }
  recording.settings = RecordedSettings{.variable = "PYTORCH_NPU_ALLOC_CONF",
                                        .text = "expandable_segments:True",
                                        .expandable_segments = true,
                                        .max_split_size = {},
                                        .garbage_collection_threshold = 0.5,
                                        .roundup_power2_divisions = {{"1", 4}, {"2", 0}},
                                        .device_memory = 64_GiB,
                                        .fraction = 0.75,
                                        .soc = "ascend950"};
  recording.annotations = {
      {.name = "Optimizer.step#Adam", .start = true, .device = 0, .time_us = 1001},
      {.name = "Optimizer.step#Adam", .start = false, .device = 0, .time_us = 1003}};
  return recording;
}

std::string frames_text(const CallStacks& stacks, StackId stack) {
  std::string text;
  for (; stack != StackId{}; stack = stacks.caller(stack)) {
    text += describe(stacks, stacks.innermost(stack)) + ";";
  }
  return text;
}

TEST_CASE("a written snapshot reads back as the same recording", "[snapshot_writer]") {
  const Recording before = rich_recording();
  const Recording after = read_back(written(before));
  CHECK(after.source.layer == "snapshot");
  CHECK(after.source.protocol == 4);
  CHECK(after.unknown_keys.empty());
  CHECK(after.unknown_actions.empty());
  CHECK(after.entries_have_pools == before.entries_have_pools);
  REQUIRE(after.devices.size() == 1);
  const RecordedDevice& device = after.devices.front();
  const RecordedDevice& original = before.devices.front();
  REQUIRE(device.entries.size() == original.entries.size());
  for (std::size_t i = 0; i < original.entries.size(); ++i) {
    INFO("entry " << i);
    const RecordedEntry& a = original.entries[i];
    const RecordedEntry& b = device.entries[i];
    CHECK(b.action == a.action);
    CHECK(b.address == a.address);
    CHECK(b.size == a.size);
    CHECK(after.pools[b.pool] == before.pools[a.pool]);
    CHECK(frames_text(after.stacks, b.stack) == frames_text(before.stacks, a.stack));
    CHECK(device.times_us[i] == original.times_us[i]);
    if (a.action != RecordedAction::snapshot) {
      CHECK(after.streams[b.stream] == before.streams[a.stream]);
    }
  }
  REQUIRE(device.segments.size() == original.segments.size());
  for (std::size_t i = 0; i < original.segments.size(); ++i) {
    INFO("segment " << i);
    const RecordedSegment& a = original.segments[i];
    const RecordedSegment& b = device.segments[i];
    CHECK(b.address == a.address);
    CHECK(b.total_size == a.total_size);
    CHECK(b.small == a.small);
    CHECK(b.expandable == a.expandable);
    CHECK(after.streams[b.stream] == before.streams[a.stream]);
    CHECK(after.pools[b.pool] == before.pools[a.pool]);
    CHECK(frames_text(after.stacks, b.stack) == frames_text(before.stacks, a.stack));
    REQUIRE(b.blocks.size() == a.blocks.size());
    for (std::size_t j = 0; j < a.blocks.size(); ++j) {
      CHECK(b.blocks[j].address == a.blocks[j].address);
      CHECK(b.blocks[j].size == a.blocks[j].size);
      CHECK(b.blocks[j].requested == a.blocks[j].requested);
      CHECK(b.blocks[j].state == a.blocks[j].state);
      CHECK(frames_text(after.stacks, b.blocks[j].stack) ==
            frames_text(before.stacks, a.blocks[j].stack));
    }
  }
}

TEST_CASE("settings and annotations read back as they were", "[snapshot_writer]") {
  const Recording before = rich_recording();
  const Recording after = read_back(written(before));
  REQUIRE(after.settings.has_value());
  CHECK(after.settings->variable == "PYTORCH_NPU_ALLOC_CONF");
  CHECK(after.settings->text == "expandable_segments:True");
  CHECK(after.settings->expandable_segments == true);
  CHECK_FALSE(after.settings->max_split_size.has_value());
  CHECK(after.settings->garbage_collection_threshold == 0.5);
  CHECK(after.settings->roundup_power2_divisions == before.settings->roundup_power2_divisions);
  CHECK(after.settings->device_memory == 64_GiB);
  CHECK(after.settings->fraction == 0.75);
  CHECK(after.settings->soc == "ascend950");
  REQUIRE(after.annotations.size() == 2);
  CHECK(after.annotations[1].name == "Optimizer.step#Adam");
  CHECK_FALSE(after.annotations[1].start);
  CHECK(after.annotations[1].time_us == 1003);

  Recording bare = rich_recording();
  bare.settings->device_memory.reset();
  bare.settings->fraction.reset();
  bare.settings->max_split_size = 64_MiB;
  const Recording again = read_back(written(bare));
  CHECK_FALSE(again.settings->device_memory.has_value());
  CHECK_FALSE(again.settings->fraction.has_value());
  CHECK(again.settings->max_split_size == 64_MiB);
}

TEST_CASE("devices before the recorded one have empty histories", "[snapshot_writer]") {
  Recording recording = rich_recording();
  recording.devices.front().index = 2;
  const json snapshot = unpickle(written(recording));
  REQUIRE(snapshot["device_traces"].size() == 3);
  CHECK(snapshot["device_traces"][0] == json::array());
  CHECK(snapshot["device_traces"][1] == json::array());
  CHECK(snapshot["device_traces"][2].size() == 10);
  CHECK(snapshot["segments"][0]["device"] == 2);
}

TEST_CASE("sums of a segment are torch's", "[snapshot_writer]") {
  const json segment = unpickle(written(rich_recording()))["segments"][1];
  CHECK(segment["total_size"] == 20 << 20);
  CHECK(segment["allocated_size"] == (3 << 20) + 512);
  CHECK(segment["active_size"] == (3 << 20) + 1024);
  CHECK(segment["requested_size"] == (3 << 20) + 5);
  CHECK(segment["segment_pool_id"] == json::array({0, 1}));
}

TEST_CASE("stacks and frames are written once", "[snapshot_writer]") {
  Recording recording = rich_recording();
  RecordedDevice& device = recording.devices.front();
  const std::size_t before = written(recording).size();
  RecordedEntry entry = device.entries[1];
  for (int i = 0; i < 1000; ++i) {
    device.entries.push_back(entry);
    device.times_us.push_back(0);
  }
  CHECK(written(recording).size() - before < 1000 * 60);
}

/// A key that a script reads from some dict of a snapshot.
struct KeyRead {
  std::string_view key;
  /// In which function of torch/utils/viz/{MemoryViz,process_alloc_data}.js or, as a method, of
  /// torch/cuda/_memory_viz.py.
  std::string_view by;
};

void check_has(const json& dicts, std::initializer_list<KeyRead> keys) {
  REQUIRE(!dicts.empty());
  for (const json& dict : dicts) {
    for (const KeyRead& read : keys) {
      INFO(read.key << ", read by " << read.by << ", in " << dict.dump());
      CHECK(dict.contains(std::string{read.key}));
    }
  }
}

/// The values of `key` in all dicts, one after another.
json all(const json& dicts, const char* key) {
  json values = json::array();
  for (const json& dict : dicts) {
    for (const json& value : dict.at(key)) values.push_back(value);
  }
  return values;
}

TEST_CASE("every key that memory_viz reads is there", "[snapshot_writer]") {
  const json snapshot = unpickle(written(rich_recording()));
  check_has(json::array({snapshot}),
            {{"segments", "annotate_snapshot, MemoryView, process_alloc_data, _memory_viz.segsum"},
             {"device_traces", "annotate_snapshot, snapshot_change, _memory_viz.trace"},
             {"allocator_settings", "create_settings_view"}});
  check_has(snapshot["segments"],
            {{"device", "MemoryView, process_alloc_data, snapshot_change"},
             {"address", "annotate_snapshot, MemoryView, _memory_viz.compare"},
             {"total_size", "MemoryView, process_alloc_data, _memory_viz.segsum"},
             {"allocated_size", "_memory_viz.trace"},
             {"stream", "annotate_snapshot, MemoryView, _memory_viz.memory"},
             {"segment_pool_id", "find_pool_id of process_alloc_data"},
             {"frames", "MemoryView"},
             {"blocks", "annotate_snapshot, MemoryView, _memory_viz.calc_active"}});
  check_has(all(snapshot["segments"], "blocks"),
            {{"address", "process_alloc_data"},
             {"size", "annotate_snapshot, MemoryView, _memory_viz.segsum"},
             {"requested_size", "MemoryView, process_alloc_data, _memory_viz._block_extra"},
             {"state", "MemoryView, process_alloc_data, _memory_viz.calc_active"},
             {"frames", "annotate_snapshot, MemoryView, _memory_viz._block_extra"}});
  const json& entries = snapshot["device_traces"][0];
  check_has(entries,
            {{"action", "annotate_snapshot, formatEvent, process_alloc_data, _memory_viz.trace"},
             {"size", "formatEvent, process_alloc_data, _memory_viz.trace"},
             {"stream", "annotate_snapshot, formatEvent, process_alloc_data"},
             {"frames", "annotate_snapshot, eventStack, context_for_id"},
             {"time_us", "context_for_id"},
             {"compile_context", "context_for_id"},
             {"user_metadata", "format_user_metadata"},
             {"forward_frames", "format_forward_frames"}});
  for (const json& entry : entries) {
    if (entry["action"] == "oom") {
      check_has(json::array({entry}), {{"device_free", "formatEvent, _memory_viz.trace"}});
      CHECK_FALSE(entry.contains("addr"));
    } else {
      check_has(json::array({entry}), {{"addr", "formatAddr, simulate_memory, _memory_viz.trace"}});
    }
  }
  check_has(all(entries, "frames"),
            {{"name", "frameFilter, format_frames, _memory_viz._frame_fmt"},
             {"filename", "frameFilter, format_frames, _memory_viz._frame_fmt"},
             {"line", "format_frames, _memory_viz._frame_fmt"}});
}

TEST_CASE("keys that tell memory_viz of another producer are not there", "[snapshot_writer]") {
  const json snapshot = unpickle(written(rich_recording()));
  for (const json& entry : snapshot["device_traces"][0]) {
    // annotate_snapshot would colour by it, as of a profile.
    CHECK_FALSE(entry.contains("category"));
  }
  for (const json& block : all(snapshot["segments"], "blocks")) {
    // _memory_viz._block_extra_legacy: torch 2.0.
    CHECK_FALSE(block.contains("history"));
  }
}

TEST_CASE("text that is no UTF-8 is written as text that is", "[snapshot_writer]") {
  Recording recording = rich_recording();
  RecordedDevice& device = recording.devices.front();
  device.entries[0].stack = stack_of(recording.stacks, "caf\xe9");
  recording.settings->text = "a\xff";
  const json snapshot = unpickle(written(recording));
  CHECK(snapshot["device_traces"][0][0]["frames"][0]["name"] == "caf\ufffd");
  CHECK(snapshot["allocator_settings"]["PYTORCH_NPU_ALLOC_CONF"] == "a\ufffd");
}

TEST_CASE("numbers beyond 32 and 63 bits are written whole", "[snapshot_writer]") {
  Recording recording = rich_recording();
  CallStacks& stacks = recording.stacks;
  const FrameId frame = stacks.intern(
      Frame{.function = stacks.intern("f"), .file = stacks.intern("g"), .line = ~std::uint64_t{0}});
  recording.devices.front().entries[0].stack = stacks.intern(StackId{}, frame);
  recording.devices.front().entries[0].address = Address{~std::uint64_t{0} - 5};
  const json entry = unpickle(written(recording))["device_traces"][0][0];
  CHECK(entry["frames"][0]["line"] == ~std::uint64_t{0});
  CHECK(entry["addr"] == ~std::uint64_t{0} - 5);
}

/// What a command prints; nothing if it fails.
std::optional<std::string> output_of(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string output;
  std::array<char, 4096> piece{};
  while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), pipe)) {
    output.append(piece.data(), count);
  }
  return ::pclose(pipe) == 0 ? std::optional{output} : std::nullopt;
}

TEST_CASE("Python's pickle loads a snapshot with globals forbidden", "[snapshot_writer]") {
  if (!output_of("python3 -c 'import pickle' 2>&1")) {
    fmt::print("skipped: python3 is not installed\n");
    return;
  }
  const std::string snapshot = written(rich_recording());
  const auto file =
      std::filesystem::temp_directory_path() / fmt::format("fragcast-test-{}.pickle", ::getpid());
  std::ofstream{file, std::ios::binary} << snapshot;
  const auto loaded = output_of(fmt::format(
      "python3 {}/tests/support/load_snapshot.py {}", FRAGCAST_SOURCE_DIR, file.string()));
  std::filesystem::remove(file);
  REQUIRE(loaded.has_value());
  CHECK(json::parse(*loaded) == unpickle(snapshot));
}

}  // namespace
}  // namespace fragcast
