#include "replay/formats/snapshot_writer.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

#include "replay/formats/pickle/writer.hpp"
#include "replay/formats/utf8.hpp"
#include "sim/core/dense_map.hpp"

namespace fragcast {
namespace {

std::string_view name_of(RecordedAction action) {
  switch (action) {
    case RecordedAction::alloc:
      return "alloc";
    case RecordedAction::free_requested:
      return "free_requested";
    case RecordedAction::free_completed:
      return "free_completed";
    case RecordedAction::segment_alloc:
      return "segment_alloc";
    case RecordedAction::segment_free:
      return "segment_free";
    case RecordedAction::segment_map:
      return "segment_map";
    case RecordedAction::segment_unmap:
      return "segment_unmap";
    case RecordedAction::oom:
      return "oom";
    case RecordedAction::snapshot:
      return "snapshot";
    case RecordedAction::workspace_snapshot:
      return "workspace_snapshot";
    case RecordedAction::annotate:
      return "annotate";
    case RecordedAction::unknown:
      return "unknown";
  }
  return {};
}

std::string_view name_of(RecordedState state) {
  switch (state) {
    case RecordedState::active_allocated:
      return "active_allocated";
    case RecordedState::active_pending_free:
      return "active_pending_free";
    case RecordedState::inactive:
      return "inactive";
  }
  return {};
}

/// Sums over the blocks of a segment, as torch has them.
struct SegmentSums {
  Bytes allocated;
  Bytes active;
  Bytes requested;
};

SegmentSums sums_of(const RecordedSegment& segment) {
  SegmentSums sums;
  for (const RecordedBlock& block : segment.blocks) {
    if (block.state == RecordedState::active_allocated) sums.allocated += block.size;
    if (block.state == RecordedState::inactive) continue;
    sums.active += block.size;
    sums.requested += block.requested;
  }
  return sums;
}

class SnapshotWriter {
 public:
  SnapshotWriter(const Recording& recording, const CallStacks& stacks, std::ostream& output)
      : recording_{recording}, stacks_{stacks}, out_{output} {}

  void write() {
    out_.begin_dict();
    write_segments();
    write_histories();
    if (recording_.settings) write_settings(*recording_.settings);
    write_annotations();
    out_.end_dict();
    out_.finish();
  }

 private:
  using Reference = PickleWriter::Reference;

  void write_segments();
  void write_segment(const RecordedSegment& segment, int device);
  void write_block(const RecordedBlock& block);
  void write_histories();
  void write_entry(const RecordedEntry& entry, std::optional<std::int64_t> time_us);
  void write_settings(const RecordedSettings& settings);
  void write_annotations();
  void write_stack(StackId stack);
  void write_frame(FrameId id);
  void write_pool(std::uint16_t pool);

  /// Text of ours.
  void write(std::string_view key, std::string_view text) {
    out_.key(key);
    out_.text(text);
  }
  void write(std::string_view key, const char* text) { write(key, std::string_view{text}); }
  /// Text that came from a file.
  void write_foreign(std::string_view key, std::string_view text) {
    write(key, std::string_view{valid_utf8(text)});
  }
  void write(std::string_view key, std::int64_t number) {
    out_.key(key);
    out_.integer(number);
  }
  void write(std::string_view key, std::uint64_t number) {
    out_.key(key);
    out_.natural(number);
  }
  void write(std::string_view key, bool value) {
    out_.key(key);
    out_.boolean(value);
  }
  void write(std::string_view key, double number) {
    out_.key(key);
    out_.real(number);
  }
  void write(std::string_view key, Bytes size) { write(key, size.count()); }
  void write(std::string_view key, Address address) { write(key, address.value()); }

  const Recording& recording_;
  const CallStacks& stacks_;
  PickleWriter out_;
  /// Where stacks and frames were written; the first object of a pickle is neither.
  DenseMap<StackId, Reference> written_stacks_;
  DenseMap<FrameId, Reference> written_frames_;
};

void SnapshotWriter::write_segments() {
  out_.key("segments");
  out_.begin_list();
  for (const RecordedDevice& device : recording_.devices) {
    for (const RecordedSegment& segment : device.segments) write_segment(segment, device.index);
  }
  out_.end_list();
}

void SnapshotWriter::write_segment(const RecordedSegment& segment, int device) {
  const SegmentSums sums = sums_of(segment);
  out_.begin_dict();
  write("device", std::int64_t{device});
  write("address", segment.address);
  write("total_size", segment.total_size);
  write("allocated_size", sums.allocated);
  write("active_size", sums.active);
  write("requested_size", sums.requested);
  write("stream", recording_.streams[segment.stream]);
  write("segment_type", segment.small ? "small" : "large");
  out_.key("segment_pool_id");
  write_pool(segment.pool);
  write("is_expandable", segment.expandable);
  out_.key("frames");
  write_stack(segment.stack);
  out_.key("blocks");
  out_.begin_list();
  for (const RecordedBlock& block : segment.blocks) write_block(block);
  out_.end_list();
  out_.end_dict();
}

void SnapshotWriter::write_block(const RecordedBlock& block) {
  out_.begin_dict();
  write("address", block.address);
  write("size", block.size);
  write("requested_size", block.requested);
  write("state", name_of(block.state));
  out_.key("frames");
  write_stack(block.stack);
  out_.end_dict();
}

void SnapshotWriter::write_histories() {
  out_.key("device_traces");
  out_.begin_list();
  int next = 0;
  for (const RecordedDevice& device : recording_.devices) {
    for (; next < device.index; ++next) {
      out_.begin_list();
      out_.end_list();
    }
    out_.begin_list();
    for (std::size_t i = 0; i < device.entries.size(); ++i) {
      write_entry(device.entries[i],
                  device.times_us.empty() ? std::nullopt : std::optional{device.times_us[i]});
    }
    out_.end_list();
    ++next;
  }
  out_.end_list();
}

void SnapshotWriter::write_entry(const RecordedEntry& entry, std::optional<std::int64_t> time_us) {
  out_.begin_dict();
  write("action", name_of(entry.action));
  write(entry.action == RecordedAction::oom ? "device_free" : "addr", entry.address);
  write("size", entry.size);
  const bool on_none = entry.action == RecordedAction::snapshot ||
                       entry.action == RecordedAction::annotate || recording_.streams.empty();
  write("stream", on_none ? std::uint64_t{0} : recording_.streams[entry.stream]);
  if (time_us) write("time_us", *time_us);
  // As torch fills them where nobody asked for more.
  write("compile_context", "N/A");
  write("user_metadata", "");
  out_.key("forward_frames");
  write_stack(StackId{});
  if (recording_.entries_have_pools) {
    out_.key("pool_id");
    write_pool(entry.pool);
  }
  out_.key("frames");
  write_stack(entry.stack);
  out_.end_dict();
}

void SnapshotWriter::write_settings(const RecordedSettings& settings) {
  out_.key("allocator_settings");
  out_.begin_dict();
  if (!settings.variable.empty()) write_foreign(valid_utf8(settings.variable), settings.text);
  write("max_split_size", settings.max_split_size ? settings.max_split_size->count() : -1);
  write("garbage_collection_threshold", settings.garbage_collection_threshold.value_or(0.0));
  write("expandable_segments", settings.expandable_segments.value_or(false));
  out_.key("roundup_power2_divisions");
  out_.begin_dict();
  for (const auto& [interval, divisions] : settings.roundup_power2_divisions) {
    write(valid_utf8(interval), divisions);
  }
  out_.end_dict();
  if (settings.device_memory) write("fragcast_device_memory", *settings.device_memory);
  if (settings.fraction) write("fragcast_memory_fraction", *settings.fraction);
  if (settings.soc) write_foreign("fragcast_soc", *settings.soc);
  out_.end_dict();
}

void SnapshotWriter::write_annotations() {
  out_.key("external_annotations");
  out_.begin_list();
  for (const RecordedAnnotation& annotation : recording_.annotations) {
    out_.begin_dict();
    write_foreign("name", annotation.name);
    write("stage", annotation.start ? "START" : "END");
    write("device", std::int64_t{annotation.device});
    write("time_us", annotation.time_us);
    out_.end_dict();
  }
  out_.end_list();
}

void SnapshotWriter::write_stack(StackId stack) {
  Reference& written = written_stacks_[stack];
  if (written != Reference{}) return out_.again(written);
  written = out_.begin_list();
  for (StackId rest = stack; rest != StackId{}; rest = stacks_.caller(rest)) {
    write_frame(stacks_.innermost(rest));
  }
  out_.end_list();
}

void SnapshotWriter::write_frame(FrameId id) {
  Reference& written = written_frames_[id];
  if (written != Reference{}) return out_.again(written);
  const Frame& frame = stacks_.frame(id);
  written = out_.begin_dict();
  write_foreign("name", stacks_.text(frame.function));
  write_foreign("filename", stacks_.text(frame.file));
  write("line", frame.line);
  out_.end_dict();
}

void SnapshotWriter::write_pool(std::uint16_t pool) {
  const auto& [first, second] = recording_.pools[pool];
  out_.pair(first, second);
}

}  // namespace

void write_snapshot(const Recording& recording, const CallStacks& stacks, std::ostream& output) {
  SnapshotWriter{recording, stacks, output}.write();
}

}  // namespace fragcast
