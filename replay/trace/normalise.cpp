#include "replay/trace/normalise.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

#include "replay/trace/follow_history.hpp"
#include "replay/trace/start_state.hpp"

namespace fragcast {
namespace {

std::vector<Note> notes_on(const Normalised& result) {
  std::vector<Note> notes;
  const auto add = [&](std::string id, std::string text) {
    notes.push_back({.id = std::move(id), .text = std::move(text)});
  };
  if (result.kind == HistoryKind::state_only) {
    add("state_only",
        "the file holds a state and no history: there is a layout, and nothing to replay; record "
        "with torch_npu.npu.memory._record_memory_history() (torch.cuda.… on CUDA) before the run");
  }
  if (!result.workspaces.empty()) {
    Bytes sum;
    for (const Workspace& workspace : result.workspaces) sum += workspace.extent.size;
    add("workspaces",
        fmt::format("{} workspace blocks, {} bytes, belong to another allocator and are left out",
                    result.workspaces.size(),
                    sum.count()));
  }
  if (result.kind == HistoryKind::full && !result.trace.initial.empty()) {
    add("start_unknown",
        "the history begins in the middle of a run; in no file are: ages of free blocks, streams "
        "recorded on live blocks, cached physical pages");
  }
  return notes;
}

}  // namespace

Normalised normalise(const Recording& recording,
                     const RecordedDevice& device,
                     const StatedConditions& stated,
                     const RunVerdicts& verdicts) {
  Normalised result;
  result.names = name_streams_and_pools(recording, device);
  WalkedBack walked = walk_back(recording, device, result.names);
  result.kind = walked.kind;
  result.conditions = infer_conditions(recording, device, walked, stated);
  StartState start = rebuild_start(walked, device, result.names, result.conditions);
  result.anomalies = walked.anomalies;
  result.workspaces = walked.workspaces;
  result.recorded = follow_history({.recording = recording,
                                    .device = device,
                                    .names = result.names,
                                    .walked = walked,
                                    .conditions = result.conditions,
                                    .verdicts = verdicts},
                                   std::move(start),
                                   result.trace,
                                   result.anomalies);
  result.trace.conditions = result.conditions.conditions;
  result.trace.source_entries = static_cast<std::uint32_t>(device.entries.size());
  result.notes = notes_on(result);
  return result;
}

}  // namespace fragcast
