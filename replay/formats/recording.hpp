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
  /// Index into Recording::streams.
  std::uint16_t stream = 0;
  /// Index into Recording::pools.
  std::uint16_t pool = 0;
  RecordedAction action = RecordedAction::unknown;
};
static_assert(sizeof(RecordedEntry) <= 32);

enum class RecordedState : std::uint8_t { active_allocated, active_pending_free, inactive };

struct RecordedBlock {
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

/// One device's part of a recording. Devices are numbered as in the file.
struct RecordedDevice {
  int index = 0;
  ChunkedVector<RecordedEntry> entries;
  /// Microseconds, one per entry; empty where the file has none (torch_npu).
  ChunkedVector<std::int64_t> times_us;
  std::vector<RecordedSegment> segments;
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
  /// "snapshot", "segments only", "list of segments", …
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
