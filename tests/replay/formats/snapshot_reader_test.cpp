#include "replay/formats/snapshot_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/pickled.hpp"
#include "tests/support/wrapped.hpp"

namespace fragcast {
namespace {

Recording read_bytes(const std::string& bytes, const ReadOptions& options = {}) {
  ByteSource source = open_source(bytes, "snapshot");
  return read_snapshot(source, options);
}

Recording read(std::string_view literal, Pickler pickler = Pickler::python_4) {
  return read_bytes(pickled(literal, pickler));
}

std::string refusal_of_bytes(const std::string& bytes, const ReadOptions& options = {}) {
  try {
    const Recording recording = read_bytes(bytes, options);
    return "read: " + recording.source.layer;
  } catch (const InputError& error) {
    return error.what();
  }
}

std::string refusal(std::string_view literal) { return refusal_of_bytes(pickled(literal)); }

/// A snapshot whose one segment has these blocks, or whose one history these entries.
std::string with_blocks(std::string_view total_size, std::string_view blocks) {
  return fmt::format(
      "{{'segments': [{{'device': 0, 'address': 4096, 'total_size': {}, 'stream': 0, "
      "'blocks': [{}]}}], 'device_traces': []}}",
      total_size,
      blocks);
}
std::string with_entries(std::string_view entries) {
  return fmt::format("{{'segments': [], 'device_traces': [[{}]]}}", entries);
}

/// What is recorded, a line for each thing.
std::string text(const RecordedBlock& block) {
  constexpr const char* states[] = {"allocated", "pending", "inactive"};
  return fmt::format("{:#x} {} ({}) {} stack {}",
                     block.address.value(),
                     block.size.count(),
                     block.requested.count(),
                     states[static_cast<int>(block.state)],
                     block.stack.value());
}
std::string text(const Recording& recording, const RecordedEntry& entry) {
  const auto& [first, second] = recording.pools.at(entry.pool);
  return fmt::format("{} {:#x} {} stream {} pool ({}, {})",
                     static_cast<int>(entry.action),
                     entry.address.value(),
                     entry.size.count(),
                     recording.streams.at(entry.stream),
                     first,
                     second);
}
std::vector<std::string> entries(const Recording& recording, std::size_t device = 0) {
  std::vector<std::string> result;
  for (const RecordedEntry& entry : recording.devices.at(device).entries) {
    result.push_back(text(recording, entry));
  }
  return result;
}

constexpr std::string_view complete = R"({
  'segments': [
    {'device': 0, 'address': 139781526781952, 'total_size': 2097152, 'allocated_size': 1024,
     'active_size': 1536, 'requested_size': 1300, 'stream': 0, 'segment_type': 'small',
     'segment_pool_id': (0, 0), 'is_expandable': False, 'frames': $s=[
       {'name': 'step', 'filename': '/job/train.py', 'line': 12},
       $main={'name': 'main', 'filename': '/job/train.py', 'line': 40}],
     'blocks': [
       {'address': 139781526781952, 'size': 1024, 'requested_size': 1000,
        'state': 'active_allocated', 'frames': $s},
       {'address': 139781526782976, 'size': 512, 'requested_size': 300,
        'state': 'active_pending_free', 'frames': []},
       {'address': 139781526783488, 'size': 2095616, 'requested_size': 77, 'state': 'inactive',
        'frames': []}]},
    {'device': 1, 'address': 139781600000000, 'total_size': 20971520, 'allocated_size': 0,
     'active_size': 0, 'requested_size': 0, 'stream': 140000000000000, 'segment_type': 'large',
     'segment_pool_id': (0, 5), 'is_expandable': True, 'frames': [],
     'blocks': [{'address': 139781600000000, 'size': 20971520, 'requested_size': 0,
                 'state': 'inactive', 'frames': []}]}],
  'device_traces': [
    [{'action': 'segment_alloc', 'addr': 139781526781952, 'size': 2097152, 'stream': 0,
      'time_us': 1754641328380304, 'compile_context': 'N/A', 'user_metadata': '', 'frames': $s},
     {'action': 'alloc', 'addr': 139781526781952, 'size': 1000, 'stream': 0,
      'time_us': 1754641328380305, 'compile_context': 'N/A', 'user_metadata': '',
      'frames': [{'name': 'forward', 'filename': '/job/model.py', 'line': 7}, $main]},
     {'action': 'oom', 'device_free': 4096, 'size': 5308694528, 'stream': 0,
      'time_us': 1754641328380306, 'frames': $s}],
    []],
  'allocator_settings': {
    'PYTORCH_CUDA_ALLOC_CONF': 'expandable_segments:True', 'max_split_size': -1,
    'garbage_collection_threshold': 0.8, 'expandable_segments': True,
    'pinned_num_register_threads': 1, 'release_lock_on_cudamalloc': False,
    'pinned_use_cuda_host_register': False, 'roundup_power2_divisions': {'1': 0, '2': 4}},
  'external_annotations': [
    {'name': 'Optimizer.step#AdamW.step', 'stage': 'START', 'device': 0, 'time_us': 1754641328},
    {'name': 'Optimizer.step#AdamW.step', 'stage': 'END', 'device': 0, 'time_us': 1754641329}]})";

TEST_CASE("a snapshot's history is read as recorded", "[snapshot]") {
  const Recording recording = read(complete);
  REQUIRE(recording.devices.size() == 2);
  CHECK(entries(recording) ==
        std::vector<std::string>{"3 0x7f216c400000 2097152 stream 0 pool (0, 0)",
                                 "0 0x7f216c400000 1000 stream 0 pool (0, 0)",
                                 "7 0x1000 5308694528 stream 0 pool (0, 0)"});
  CHECK(recording.devices[0].times_us.size() == 3);
  CHECK(recording.devices[0].times_us[1] == 1754641328380305);
  CHECK(recording.devices[1].entries.empty());
  CHECK_FALSE(recording.entries_have_pools);
  CHECK(recording.unknown_keys.empty());
  CHECK(recording.unknown_actions.empty());
}

TEST_CASE("a snapshot's segments are read as recorded", "[snapshot]") {
  const Recording recording = read(complete);
  REQUIRE(recording.devices[0].segments.size() == 1);
  const RecordedSegment& small = recording.devices[0].segments[0];
  CHECK(small.address == Address{139781526781952});
  CHECK(small.total_size == Bytes{2097152});
  CHECK(small.small);
  CHECK_FALSE(small.expandable);
  REQUIRE(small.blocks.size() == 3);
  CHECK(text(small.blocks[0]) == "0x7f216c400000 1024 (1000) allocated stack 2");
  CHECK(text(small.blocks[1]) == "0x7f216c400400 512 (300) pending stack 0");
  CHECK(text(small.blocks[2]) == "0x7f216c400600 2095616 (77) inactive stack 0");
  const RecordedSegment& large = recording.devices[1].segments.at(0);
  CHECK_FALSE(large.small);
  CHECK(large.expandable);
  CHECK(recording.streams.at(large.stream) == 140000000000000);
  CHECK(recording.pools.at(large.pool) == std::pair<std::int64_t, std::int64_t>{0, 5});
}

TEST_CASE("a snapshot's call stacks are shared", "[snapshot]") {
  const Recording recording = read(complete);
  const auto& history = recording.devices[0].entries;
  const CallStacks& stacks = recording.stacks;
  CHECK(history[0].stack == history[2].stack);
  CHECK(history[0].stack == recording.devices[0].segments[0].stack);
  CHECK(describe(stacks, stacks.innermost(history[0].stack)) == "train.py:12:step");
  CHECK(describe(stacks, stacks.innermost(history[1].stack)) == "model.py:7:forward");
  CHECK(stacks.caller(history[0].stack) == stacks.caller(history[1].stack));
  CHECK(stacks.stack_count() == 3);
}

TEST_CASE("a snapshot's settings and annotations are read", "[snapshot]") {
  const Recording recording = read(complete);
  REQUIRE(recording.settings);
  CHECK(recording.settings->variable == "PYTORCH_CUDA_ALLOC_CONF");
  CHECK(recording.settings->text == "expandable_segments:True");
  CHECK(recording.settings->expandable_segments == true);
  CHECK_FALSE(recording.settings->max_split_size);
  CHECK(recording.settings->garbage_collection_threshold == 0.8);
  CHECK(recording.settings->roundup_power2_divisions ==
        std::map<std::string, std::int64_t>{{"1", 0}, {"2", 4}});
  REQUIRE(recording.annotations.size() == 2);
  CHECK(recording.annotations[0].name == "Optimizer.step#AdamW.step");
  CHECK(recording.annotations[0].start);
  CHECK_FALSE(recording.annotations[1].start);
  CHECK(recording.annotations[1].time_us == 1754641329);
}

TEST_CASE("settings of an NPU are known by their variable", "[snapshot]") {
  const Recording recording = read(
      "{'segments': [], 'device_traces': [], 'allocator_settings': {'PYTORCH_NPU_ALLOC_CONF': "
      "'max_split_size_mb:64', 'max_split_size': 67108864}}");
  REQUIRE(recording.settings);
  CHECK(recording.settings->variable == "PYTORCH_NPU_ALLOC_CONF");
  CHECK(recording.settings->max_split_size == Bytes{67108864});
  CHECK_FALSE(recording.settings->expandable_segments);
}

TEST_CASE("every pickler's snapshot is the same recording", "[snapshot]") {
  for (const Pickler pickler : {Pickler::python_5, Pickler::torch_jit}) {
    const Recording expected = read(complete);
    const Recording recording = read(complete, pickler);
    CHECK(entries(recording) == entries(expected));
    CHECK(recording.stacks.stack_count() == expected.stacks.stack_count());
    CHECK(recording.devices[0].segments[0].blocks.size() == 3);
    CHECK(recording.settings->text == expected.settings->text);
    CHECK(recording.source.protocol == (pickler == Pickler::python_5 ? 5 : 2));
  }
}

TEST_CASE("a snapshot is read from any wrapping", "[snapshot]") {
  const std::string bytes = pickled(complete);
  for (const std::string& wrapped :
       {gzipped(bytes), zstd_compressed(bytes), in_page(bytes), in_page(gzipped(bytes))}) {
    const Recording recording = read_bytes(wrapped);
    CHECK(entries(recording) == entries(read(complete)));
    CHECK_FALSE(recording.source.wrapping.empty());
  }
}

TEST_CASE("a recording says what file it was", "[snapshot]") {
  const SourceInfo source = read_bytes(gzipped(pickled(complete))).source;
  CHECK(source.file == "snapshot");
  CHECK(source.layer == "snapshot");
  CHECK(source.protocol == 4);
  CHECK(source.wrapping == "gzip");
  CHECK(source.bytes == pickled(complete).size());
}

TEST_CASE("a snapshot may be segments only, or a list of segments", "[snapshot]") {
  const std::string segment =
      "{'device': 2, 'address': 4096, 'total_size': 512, 'stream': 0, 'segment_type': 'small', "
      "'blocks': [{'address': 4096, 'size': 512, 'requested_size': 9, 'state': 'inactive'}]}";
  for (const std::string& literal : {"{'segments': [" + segment + "]}", "[" + segment + "]"}) {
    const Recording recording = read(literal);
    REQUIRE(recording.devices.size() == 1);
    CHECK(recording.devices[0].index == 2);
    CHECK(recording.devices[0].segments.size() == 1);
  }
  CHECK(read("{'segments': [" + segment + "]}").source.layer == "segments only");
  CHECK(read("[" + segment + "]").source.layer == "list of segments");
  CHECK(read("[]").devices.empty());
}

TEST_CASE("blocks of torch 2.0 get addresses by their order and requests by their history",
          "[snapshot]") {
  const Recording recording = read(R"({'segments': [
    {'device': 0, 'address': 4096, 'total_size': 2048, 'allocated_size': 1024, 'active_size': 1024,
     'stream': 0, 'segment_type': 'small', 'blocks': [
       {'size': 512, 'state': 'inactive'},
       {'size': 1024, 'state': 'active_allocated', 'history': [
          {'addr': 4608, 'real_size': 777, 'frames': [
             {'name': 'f', 'filename': 'a.py', 'line': 1}]},
          {'addr': 4608, 'real_size': 5}]},
       {'size': 512, 'state': 'active_pending_free', 'history': []}]}], 'device_traces': []})");
  const auto& blocks = recording.devices.at(0).segments.at(0).blocks;
  REQUIRE(blocks.size() == 3);
  CHECK(text(blocks[0]) == "0x1000 512 (0) inactive stack 0");
  CHECK(text(blocks[1]) == "0x1200 1024 (777) allocated stack 1");
  CHECK(text(blocks[2]) == "0x1600 512 (512) pending stack 0");
  CHECK(recording.source.layer == "snapshot of torch 2.0");
}

TEST_CASE("what the profiler's export leaves out is not missed", "[snapshot]") {
  const Recording recording = read(R"({
    'device_traces': [
      [{'action': 'alloc', 'addr': 4096, 'size': 100, 'stream': 0, 'category': 'parameter'}], []],
    'segments': [
      {'device': 1, 'address': 4096, 'total_size': 300, 'stream': 0, 'blocks': [
         {'size': 100, 'state': 'inactive'},
         {'size': 200, 'state': 'active_allocated', 'requested_size': 200, 'frames': []}]}]})");
  CHECK(entries(recording).size() == 1);
  CHECK(recording.devices[0].times_us.empty());
  CHECK(text(recording.devices.at(1).segments.at(0).blocks.at(1)) ==
        "0x1064 200 (200) allocated stack 0");
  CHECK(recording.unknown_keys.empty());
}

TEST_CASE("pool ids are pairs, as tuples or as lists", "[snapshot]") {
  const Recording recording = read(
      with_entries("{'action': 'alloc', 'addr': 1, 'size': 1, 'stream': 9, 'pool_id': (0, 0)},"
                   "{'action': 'alloc', 'addr': 1, 'size': 1, 'stream': 9, 'pool_id': (0, 7)},"
                   "{'action': 'alloc', 'addr': 1, 'size': 1, 'stream': 9, 'pool_id': [3, 0]},"
                   "{'action': 'alloc', 'addr': 1, 'size': 1, 'stream': 9, 'pool_id': (0, 7)}"));
  CHECK(recording.entries_have_pools);
  CHECK(recording.pools ==
        std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 0}, {0, 7}, {3, 0}});
  CHECK(recording.devices[0].entries[3].pool == 1);
}

TEST_CASE("streams are numbered by their handles", "[snapshot]") {
  const Recording recording =
      read(with_entries("{'action': 'alloc', 'addr': 1, 'size': 1, 'stream': 1534455456},"
                        "{'action': 'free_requested', 'addr': 1, 'size': 1, 'stream': -3},"
                        "{'action': 'snapshot', 'addr': 0, 'size': 1, 'stream': 0},"
                        "{'action': 'alloc', 'addr': 1, 'size': 1, 'stream': 1534455456}"));
  CHECK(recording.streams ==
        std::vector<std::uint64_t>{1534455456, static_cast<std::uint64_t>(-3)});
  CHECK(recording.devices[0].entries[3].stream == 0);
}

TEST_CASE("addresses that were cast to signed numbers are read", "[snapshot]") {
  const Recording recording = read(
      with_entries("{'action': 'alloc', 'addr': 18446744073709547520, 'size': 64, 'stream': 0}"),
      Pickler::torch_jit);
  CHECK(recording.devices[0].entries[0].address == Address{0xfffffffffffff000});
}

TEST_CASE("the workspace prefix of torch_npu stays as it is", "[snapshot]") {
  const Recording recording = read(R"({'segments': [
      {'device': 0, 'address': 4096, 'total_size': 512, 'allocated_size': 0, 'stream': 77,
       'segment_type': 'large', 'blocks': [{'address': 4096, 'size': 512, 'requested_size': 512,
       'state': 'inactive'}]}],
    'device_traces': [[
      {'action': 'workspace_snapshot', 'addr': 4096, 'size': 512, 'stream': 77},
      {'action': 'segment_alloc', 'addr': 4096, 'size': 512, 'stream': 77},
      {'action': 'alloc', 'addr': 4096, 'size': 512, 'stream': 77}]]})");
  CHECK(entries(recording) == std::vector<std::string>{"9 0x1000 512 stream 77 pool (0, 0)",
                                                       "3 0x1000 512 stream 77 pool (0, 0)",
                                                       "0 0x1000 512 stream 77 pool (0, 0)"});
}

TEST_CASE("unknown keys and actions are counted and keep their place", "[snapshot]") {
  const Recording recording = read(R"({'segments': [], 'host_segments': [{'strange': [1, {}]}],
    'device_traces': [[
      {'action': 'teleport', 'addr': 1, 'colour': 'red', 'frames': []},
      {'action': 'annotate', 'text': {'deep': [[[1]]]}},
      {'action': 'alloc', 'addr': 1, 'size': 1, 'stream': 0, 'colour': 'blue'}]]})");
  CHECK(recording.unknown_actions == std::map<std::string, std::uint64_t>{{"teleport", 1}});
  CHECK(recording.unknown_keys ==
        std::map<std::string, std::uint64_t>{{"colour", 2}, {"host_segments", 1}, {"text", 1}});
  REQUIRE(recording.devices[0].entries.size() == 3);
  CHECK(recording.devices[0].entries[0].action == RecordedAction::unknown);
  CHECK(recording.devices[0].entries[1].action == RecordedAction::annotate);
  CHECK(recording.devices[0].entries[2].action == RecordedAction::alloc);
}

TEST_CASE("what is wrong under a key that nobody reads does no harm", "[snapshot]") {
  const Recording recording = read(R"({'segments': [], 'device_traces': [],
    'host_traces': [[{'action': 'alloc', 'addr': 1}, {'action': 'alloc', 'size': 'large'}]],
    'host_segments': [{'blocks': [{'state': 'weird'}]}, {'blocks': 3}]})");
  CHECK(recording.unknown_keys.size() == 2);
  // The same where it is read:
  CHECK_THAT(refusal(with_entries("{'action': 'alloc', 'addr': 1}")),
             Catch::Contains("has no `size`"));
}

TEST_CASE("None stands for nothing", "[snapshot]") {
  const Recording recording = read(with_entries(
      "{'action': 'alloc', 'addr': 1, 'size': 1, 'stream': 0, 'time_us': None, 'frames': None}"));
  CHECK(recording.devices[0].times_us.empty());
}

TEST_CASE("an entry without a time has its neighbour's", "[snapshot]") {
  const Recording recording =
      read(with_entries("{'action': 'alloc', 'addr': 1, 'size': 1, 'stream': 0},"
                        "{'action': 'alloc', 'addr': 1, 'size': 1, 'stream': 0, 'time_us': 50},"
                        "{'action': 'annotate'}"));
  const auto& times = recording.devices[0].times_us;
  CHECK(std::vector<std::int64_t>(times.begin(), times.end()) ==
        std::vector<std::int64_t>{50, 50, 50});
}

TEST_CASE("a history that devices share is each one's own", "[snapshot]") {
  const std::string entry = "{'action': 'alloc', 'addr': 1, 'size': 1, 'stream': 0}";
  const Recording recording =
      read("{'segments': [], 'device_traces': [$t=[" + entry + "], [], $t]}");
  REQUIRE(recording.devices.size() == 3);
  CHECK(entries(recording, 0).size() == 1);
  CHECK(entries(recording, 1).empty());
  CHECK(entries(recording, 2) == entries(recording, 0));

  std::string many = "{'segments': [], 'device_traces': [$t=[" + entry + "]";
  for (int i = 0; i < 100; ++i) many += ", $t";
  CHECK_THAT(refusal(many + "]}"), Catch::Contains("gives one history to more than 16 devices"));
}

TEST_CASE("an entry that histories share is in each of them", "[snapshot]") {
  const Recording recording = read(
      "{'segments': [], 'device_traces': ["
      "[$e={'action': 'alloc', 'addr': 1, 'size': 1, 'stream': 0}, $e],"
      "[{'action': 'oom', 'device_free': 2, 'size': 1, 'stream': 0}, $e]]}");
  CHECK(entries(recording, 0).size() == 2);
  CHECK(entries(recording, 1) ==
        std::vector<std::string>{"7 0x2 1 stream 0 pool (0, 0)", "0 0x1 1 stream 0 pool (0, 0)"});
}

TEST_CASE("long histories come in batches, and several devices one after another", "[snapshot]") {
  std::string histories;
  for (int device = 0; device < 3; ++device) {
    std::string list;
    for (int i = 0; i < 2500; ++i) {
      list +=
          fmt::format("{{'action': 'alloc', 'addr': {}, 'size': {}, 'stream': 0}},", i, device + 1);
    }
    histories += "[" + list + "],";
  }
  for (const Pickler pickler : {Pickler::python_4, Pickler::torch_jit}) {
    const Recording recording =
        read("{'segments': [], 'device_traces': [" + histories + "]}", pickler);
    REQUIRE(recording.devices.size() == 3);
    for (const RecordedDevice& device : recording.devices) {
      REQUIRE(device.entries.size() == 2500);
      CHECK(device.entries[2499].address == Address{2499});
      CHECK(device.entries[2499].size == Bytes{device.index + 1});
    }
  }
}

TEST_CASE("blocks must tile their segment", "[snapshot]") {
  const std::string first = "{'address': 4096, 'size': 512, 'state': 'inactive'}";
  CHECK_THAT(refusal(with_blocks("1024", first)),
             Catch::Contains("has 1024 bytes, but its blocks only 512"));
  CHECK_THAT(refusal(with_blocks("256", first)),
             Catch::Contains("has 256 bytes, less than its blocks have"));
  CHECK_THAT(
      refusal(with_blocks("1024", first + ", {'address': 4700, 'size': 512, 'state': 'inactive'}")),
      Catch::Contains("has a block at address 0x125c where 0x1200 follows"));
  CHECK(refusal(with_blocks("0", "")).starts_with("read"));
  CHECK_THAT(refusal(with_blocks("512", "")), Catch::Contains("but its blocks only 0"));
  CHECK_THAT(refusal(with_blocks("512", "3")),
             Catch::Contains("`blocks` that is not a list of blocks"));
}

TEST_CASE("segments of one stream must not overlap", "[snapshot]") {
  const auto segment = [](int device, int address, int stream) {
    return fmt::format(
        "{{'device': {}, 'address': {}, 'total_size': 512, 'stream': {}, 'blocks': "
        "[{{'size': 512, 'state': 'inactive'}}]}}",
        device,
        address,
        stream);
  };
  const auto pair = [&](const std::string& second) {
    return fmt::format("[$s={}, {}]", segment(0, 4096, 0), second);
  };
  CHECK_THAT(refusal(pair(segment(0, 4352, 0))),
             Catch::Contains("the segment here at address 0x1100 overlaps another"));
  CHECK(read(pair(segment(0, 4608, 0))).devices.size() == 1);
  CHECK(read(pair(segment(0, 4096, 7))).devices.size() == 1);
  CHECK(read(pair(segment(1, 4096, 0))).devices.size() == 2);
  CHECK_THAT(refusal(pair("$s")), Catch::Contains("overlaps"));
}

TEST_CASE("values of wrong type or range are refused with their place", "[snapshot]") {
  const auto entry = [](std::string_view fields) {
    return refusal(with_entries(fmt::format("{{'action': 'alloc', {}}}", fields)));
  };
  CHECK_THAT(entry("'addr': 1, 'size': -5, 'stream': 0"),
             Catch::Contains("the history entry here has a `size` that is not a number of bytes"));
  CHECK_THAT(entry("'addr': 1, 'size': 9223372036854775808, 'stream': 0"),
             Catch::Contains("`size`"));
  CHECK_THAT(entry("'addr': 1, 'size': 'many', 'stream': 0"), Catch::Contains("`size`"));
  CHECK_THAT(entry("'addr': 1, 'size': [], 'stream': 0"), Catch::Contains("`size`"));
  CHECK_THAT(entry("'addr': 18446744073709551615, 'size': 1, 'stream': 0"),
             Catch::Contains("ends beyond the last address"));
  CHECK_THAT(entry("'addr': 1, 'size': 1, 'stream': 0, 'pool_id': 3"),
             Catch::Contains("a pair of integers"));
  CHECK_THAT(entry("'addr': 1, 'size': 1, 'stream': 0, 'pool_id': [1]"),
             Catch::Contains("is not two integers"));
  CHECK_THAT(entry("'addr': 1, 'size': 1, 'stream': 0, 'frames': ['f']"),
             Catch::Contains("a list of stack frames"));
  CHECK_THAT(entry("'size': 1, 'stream': 0"), Catch::Contains("has no `addr`"));
  CHECK_THAT(refusal(with_entries("{'action': 3}")),
             Catch::Contains("`action` that is not a text"));
  CHECK_THAT(refusal(with_blocks("512", "{'size': 512, 'state': 'lost'}")),
             Catch::Contains("is in an unknown state, `lost`"));
  CHECK_THAT(refusal(with_blocks("512",
                                 "{'size': 512, 'requested_size': 513, 'state': "
                                 "'active_allocated'}")),
             Catch::Contains("fewer than the 513 that were requested"));
}

TEST_CASE("an error names the byte at which its dict begins", "[snapshot]") {
  const std::string bytes =
      pickled(with_entries("{'action': 'alloc', 'addr': 1, 'size': -5, 'stream': 0}"));
  const std::size_t begin = bytes.rfind('}');
  CHECK(refusal_of_bytes(bytes).starts_with(fmt::format("snapshot: byte {}: ", begin)));
}

TEST_CASE("lists that mix things are refused where they are read", "[snapshot]") {
  for (const std::string_view other : {"3", "[]", "{'filename': 'a.py'}", "{}"}) {
    CHECK_THAT(
        refusal(with_entries(fmt::format("{{'action': 'snapshot'}}, {}", other))),
        Catch::Contains("list of history entries") || Catch::Contains("lists of history entries"));
  }
  CHECK_THAT(refusal("{'segments': [], 'device_traces': [3]}"),
             Catch::Contains("has a `device_traces` that is not a list of devices' lists"));
  CHECK_THAT(refusal("{'segments': [{}], 'device_traces': []}"),
             Catch::Contains("has a `segments` that is not a list of segments"));
  CHECK_THAT(refusal("{'segments': {}, 'device_traces': []}"),
             Catch::Contains("has a `segments` that is not a list of segments"));
}

TEST_CASE("what is no snapshot is refused with what it seems to be", "[snapshot]") {
  CHECK_THAT(refusal("{'weights': [1, 2]}"),
             Catch::Contains("has neither `segments` nor `device_traces`"));
  CHECK_THAT(refusal("(1, 2)"),
             Catch::Contains("outermost tuple here is neither a dict nor a list"));
  CHECK_THAT(refusal("3"), Catch::Contains("neither a dict nor a list"));
  CHECK_THAT(refusal_of_bytes("PK\x03\x04...."), Catch::Contains("a zip archive"));
  CHECK_THAT(refusal_of_bytes("{\"segments\": []}"), Catch::Contains("JSON or text"));
  CHECK_THAT(refusal_of_bytes("malloc a 5MiB 0\n"), Catch::Contains("does not begin as pickles"));
}

TEST_CASE("a snapshot is told from a script by its first bytes", "[snapshot]") {
  const auto looks = [](const std::string& bytes) {
    ByteSource source = open_source(bytes, "");
    const bool is = looks_like_snapshot(source);
    CHECK(source.position() == 0);
    return is;
  };
  CHECK(looks(pickled("[]")));
  CHECK(looks(gzipped(pickled("[]"))));
  CHECK(looks(in_page(pickled("[]"))));
  CHECK_FALSE(looks("malloc a 5MiB 0\n"));
  CHECK_FALSE(looks(gzipped("malloc a 5MiB 0\n")));
  CHECK_FALSE(looks("x"));
}

TEST_CASE("a cut snapshot is refused with what could be read", "[snapshot]") {
  const std::string bytes = pickled(complete);
  const std::size_t in_third_entry = bytes.rfind("device_free");
  const std::string error = refusal_of_bytes(bytes.substr(0, in_third_entry));
  CHECK(
      error.starts_with(fmt::format("snapshot: byte {}: the snapshot ends here, before it is "
                                    "complete; 2 history entries could be read and all segments",
                                    in_third_entry)));
  CHECK_THAT(error, Catch::Contains("--salvage"));
  CHECK_THAT(refusal_of_bytes(bytes.substr(0, bytes.find("segment_type"))),
             Catch::Contains("0 history entries could be read, but not all segments"));
}

TEST_CASE("every cut of a snapshot is refused, compressed or not", "[snapshot]") {
  const std::string plain = pickled(complete);
  for (const std::string& whole : {plain, gzipped(plain), zstd_compressed(plain)}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const std::string error = refusal_of_bytes(whole.substr(0, size));
      REQUIRE_FALSE(error.starts_with("read"));
    }
  }
}

TEST_CASE("a cut snapshot with all segments can be salvaged", "[snapshot]") {
  const std::string bytes = pickled(complete);
  const ReadOptions salvage{.cut = CutSnapshot::salvage};
  const std::string cut = bytes.substr(0, bytes.rfind("device_free"));
  const Recording recording = read_bytes(cut, salvage);
  CHECK(recording.cut_at == cut.size());
  CHECK(recording.devices.at(0).segments.size() == 1);
  CHECK(recording.devices.at(1).segments.size() == 1);
  CHECK(entries(recording).size() == 2);

  const std::string in_segments = bytes.substr(0, bytes.find("active_pending_free"));
  CHECK_THAT(refusal_of_bytes(in_segments, salvage), Catch::Contains("not all segments"));
  CHECK_FALSE(read_bytes(bytes, salvage).cut_at);
}

TEST_CASE("whatever is salvaged from any cut has all segments", "[snapshot]") {
  const std::string bytes = pickled(complete);
  const ReadOptions salvage{.cut = CutSnapshot::salvage};
  std::size_t last = 0;
  for (std::size_t size = bytes.find("device_traces") + 13; size < bytes.size(); ++size) {
    const Recording recording = read_bytes(bytes.substr(0, size), salvage);
    REQUIRE(recording.devices.at(0).segments.size() == 1);
    REQUIRE(recording.devices.at(0).segments[0].blocks.size() == 3);
    REQUIRE(recording.devices[0].entries.size() >= last);
    last = recording.devices[0].entries.size();
  }
  CHECK(last == 3);
}

}  // namespace
}  // namespace fragcast
