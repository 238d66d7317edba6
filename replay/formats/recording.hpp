#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replay/trace/call_stacks.hpp"
#include "sim/core/address.hpp"
#include "sim/core/bytes.hpp"
#include "sim/core/chunked_vector.hpp"

namespace fragcast {

/// The actions of a memory history, by torch's names. `unknown` entries keep their place, so that
/// the index of an entry is its index in the file.
enum class RecordedAction : std::uint8_t {
  alloc,
  free_requested,
  free_completed,
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
  oom,
  snapshot,
  workspace_snapshot,
  annotate,
  unknown,
};

/// One entry of a device's history, as recorded. 32 bytes.
struct RecordedEntry {
  /// For `oom`: the device's free memory, in bytes, as the file's `device_free`.
  Address address;
  Bytes size;
  StackId stack;
  /// Index into Recording::streams; 0 for `snapshot` and `annotate`, which are on none.
  std::uint16_t stream = 0;
  /// Index into Recording::pools.
  std::uint16_t pool = 0;
  RecordedAction action = RecordedAction::unknown;
};
static_assert(sizeof(RecordedEntry) <= 32);

enum class RecordedState : std::uint8_t { active_allocated, active_pending_free, inactive };

struct RecordedBlock {
  /// Where the file has none: the end of the block before.
  Address address;
  Bytes size;
  /// Stale for inactive blocks.
  Bytes requested;
  StackId stack;
  RecordedState state = RecordedState::inactive;
};

struct RecordedSegment {
  Address address;
  Bytes total_size;
  std::uint16_t stream = 0;
  std::uint16_t pool = 0;
  bool small = false;
  bool expandable = false;
  StackId stack;
  std::vector<RecordedBlock> blocks;
};

/// One device's part of a recording. Devices are numbered as in the file: by their place in
/// `device_traces`, and by the number that segments carry.
///
/// torch_npu puts three entries (workspace_snapshot, segment_alloc, alloc) for each live workspace
/// block before the history, and its segment, falsely inactive, into `segments`. They are kept as
/// recorded; they are no history but part of the start.
struct RecordedDevice {
  int index = 0;
  ChunkedVector<RecordedEntry> entries;
  /// Microseconds, one per entry; empty where the file has none (torch_npu).
  ChunkedVector<std::int64_t> times_us;
  /// In the file's order. Blocks fill their segment; segments of one stream do not overlap.
  std::vector<RecordedSegment> segments;

  /// Whether nothing was recorded of it: files name all visible devices.
  [[nodiscard]] bool empty() const { return entries.empty() && segments.empty(); }
};

/// `allocator_settings`, as far as it bears on replay.
struct RecordedSettings {
  /// The environment variable by whose name the settings were stored, such as
  /// PYTORCH_CUDA_ALLOC_CONF, and its text; empty where the file has none.
  std::string variable;
  std::string text;
  std::optional<bool> expandable_segments;
  std::optional<Bytes> max_split_size;  ///< absent: unlimited (−1 in the file)
  std::optional<double> garbage_collection_threshold;
  std::map<std::string, std::int64_t> roundup_power2_divisions;
  /// Of a simulated run only: the device's memory (absent: unlimited), its fraction, and the chip.
  std::optional<Bytes> device_memory;
  std::optional<double> fraction;
  std::optional<std::string> soc;
};

/// `external_annotations`: what the program said it was doing.
struct RecordedAnnotation {
  std::string name;
  bool start = true;
  int device = 0;
  std::int64_t time_us = 0;
};

/// What the file itself is, for `info`.
struct SourceInfo {
  std::string file;
  /// "snapshot", "segments only", "list of segments" or "history only"; then the torch whose
  /// layer it is, where that shows: "snapshot of torch 2.0".
  std::string layer;
  /// Of the pickle: 2..5.
  int protocol = 0;
  /// "gzip", "zstd", "html", or several joined by " in "; empty if plain.
  std::string wrapping;
  /// Decompressed.
  std::uint64_t bytes = 0;
};

/// A memory snapshot as recorded: nothing inferred, nothing dropped but unknown keys, which are
/// counted.
struct Recording {
  SourceInfo source;
  /// Where the file was cut off, in decompressed bytes; absent if it is whole. Of a cut file all
  /// segments are here, but the histories end early: they do not lead to these segments.
  std::optional<std::uint64_t> cut_at;
  /// By index, each once.
  std::vector<RecordedDevice> devices;
  /// Raw stream handles; the default stream is 0 on CUDA and a pointer on NPU.
  std::vector<std::uint64_t> streams;
  /// Pool ids; index 0 is (0, 0), the default pools.
  std::vector<std::pair<std::int64_t, std::int64_t>> pools{{0, 0}};
  /// Whether history entries carried pool ids of their own.
  bool entries_have_pools = false;
  CallStacks stacks;
  std::optional<RecordedSettings> settings;
  std::vector<RecordedAnnotation> annotations;
  /// How often each unknown key and unknown action occurred.
  std::map<std::string, std::uint64_t> unknown_keys;
  std::map<std::string, std::uint64_t> unknown_actions;
};

}  // namespace fragcast
