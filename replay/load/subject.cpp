#include "replay/load/subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "replay/formats/byte_source.hpp"
#include "replay/formats/call_script.hpp"
#include "replay/verify/reconstruct.hpp"

namespace fragcast {
namespace {

InputError error_of(const std::string& file, const std::string& sentence) {
  return InputError{{.file = file, .line = {}, .byte = {}}, sentence};
}

/// Notes that belong to the file rather than to one device.
std::vector<Note> notes_on(const Recording& recording) {
  std::vector<Note> notes;
  const auto list = [&](const char* id, const char* what, const auto& counts) {
    if (counts.empty()) return;
    std::string names;
    for (const auto& [name, count] : counts) names += fmt::format(", {} ({}x)", name, count);
    notes.push_back({.id = id, .text = fmt::format("{} left aside: {}", what, names.substr(2))});
  };
  list("unknown_keys", "keys unknown to fragcast were", recording.unknown_keys);
  list("unknown_actions", "entries of unknown actions were", recording.unknown_actions);
  if (recording.cut_at) {
    notes.push_back({.id = "cut_file",
                     .text = fmt::format("the file was cut off at byte {}; this is what could be "
                                         "read before it",
                                         *recording.cut_at)});
  }
  return notes;
}

Subject read_script(ByteSource& source, const std::string& file, const StepWish& steps) {
  Subject subject{.kind = SourceKind::call_script,
                  .source = {.file = file,
                             .layer = "call script",
                             .protocol = 0,
                             .wrapping = source.wrapping(),
                             .bytes = 0},
                  .device = 0,
                  .events = 0,
                  .history = {},
                  .notes = {}};
  subject.history.trace = read_call_script([&source] { return source.next_line(); }, file);
  Trace& trace = subject.history.trace;
  trace.steps = find_steps(trace, trace.stacks, {}, steps);
  subject.history.conditions.model = "npu-caching";
  subject.history.conditions.release = &find_model("npu-caching")->default_release();
  subject.source.bytes = source.position();
  for (const Event& event : subject.trace().events) {
    if (event.kind != EventKind::mark && event.kind != EventKind::step) ++subject.events;
  }
  return subject;
}

std::vector<const RecordedDevice*> devices_wanted(const Recording& recording,
                                                  const LoadOptions& options) {
  std::vector<const RecordedDevice*> wanted;
  std::string present;
  for (const RecordedDevice& device : recording.devices) {
    if (device.empty()) continue;
    present += fmt::format("{}{}", present.empty() ? "" : ", ", device.index);
    if (!options.device || *options.device == device.index) wanted.push_back(&device);
  }
  if (present.empty()) {
    throw error_of(recording.source.file,
                   "holds nothing of any device: neither segments nor a history (was memory "
                   "history recorded, and was the device used?)");
  }
  if (wanted.empty()) {
    throw error_of(recording.source.file,
                   fmt::format("holds nothing of device {}, only of {}", *options.device, present));
  }
  return wanted;
}

std::vector<Subject> read_recording(ByteSource& source, const LoadOptions& options) {
  Recording recording = read_snapshot(source, {.cut = options.cut});
  const std::vector<Note> notes = notes_on(recording);
  std::vector<Subject> subjects;
  for (const RecordedDevice* device : devices_wanted(recording, options)) {
    subjects.push_back({.kind = SourceKind::snapshot,
                        .source = recording.source,
                        .device = device->index,
                        .events = device->entries.size(),
                        .history = reconstruct(recording, *device, options.stated),
                        .notes = notes});
    Trace& trace = subjects.back().history.trace;
    trace.steps = find_steps(
        trace, recording.stacks, annotated_moments(recording, *device, trace), options.steps);
  }
  // All devices share the file's call stacks; the last one can have them without a copy.
  for (std::size_t i = 0; i + 1 < subjects.size(); ++i) {
    subjects[i].history.trace.stacks = recording.stacks;
  }
  subjects.back().history.trace.stacks = std::move(recording.stacks);
  return subjects;
}

}  // namespace

std::vector<Subject> load_subjects(const std::string& file, const LoadOptions& options) {
  ByteSource source = open_source(file);
  const bool snapshot = options.format == InputFormat::snapshot ||
                        (options.format == InputFormat::automatic && looks_like_snapshot(source));
  if (snapshot) return read_recording(source, options);
  source.fill(1);
  if (options.format == InputFormat::automatic && !looks_like_call_script(source.window())) {
    throw error_of(file,
                   "is neither a memory snapshot (a pickle, also compressed or within a "
                   "memory_viz page) nor a call script; --format says which it is meant to be");
  }
  if (options.device && *options.device != 0) {
    throw error_of(file, "is a call script, which is about device 0 only");
  }
  std::vector<Subject> subjects;
  subjects.push_back(read_script(source, file, options.steps));
  return subjects;
}

}  // namespace fragcast
