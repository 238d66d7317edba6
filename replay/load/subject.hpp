#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/formats/recording.hpp"
#include "replay/formats/snapshot_reader.hpp"
#include "replay/steps/find_steps.hpp"
#include "replay/trace/normalise.hpp"

namespace fragcast {

/// What kind of file a trace came from.
enum class SourceKind : std::uint8_t { snapshot, call_script };

/// One device's requests, ready to be asked questions, and where they come from.
struct Subject {
  SourceKind kind = SourceKind::snapshot;
  SourceInfo source;
  int device = 0;
  /// Of the device, as the file counts them: entries of a history, calls of a script.
  std::uint64_t events = 0;
  /// The trace, call stacks included. Of a script: nothing else in it is filled in.
  Normalised history;
  /// Beyond what the normaliser has to say.
  std::vector<Note> notes;

  [[nodiscard]] const Trace& trace() const { return history.trace; }
  /// Whether something really happened that a simulation can be held against.
  [[nodiscard]] bool is_recording() const { return kind == SourceKind::snapshot; }
  /// A state without a history: there is nothing to replay.
  [[nodiscard]] bool state_only() const {
    return is_recording() && history.kind == HistoryKind::state_only;
  }
};

enum class InputFormat : std::uint8_t { automatic, snapshot, call_script };

struct LoadOptions {
  InputFormat format = InputFormat::automatic;
  /// Only this device of a snapshot.
  std::optional<int> device;
  CutSnapshot cut = CutSnapshot::refuse;
  /// What the user says about the run that was recorded.
  StatedConditions stated;
  StepWish steps;
};

/// Reads a file and makes one subject of each device that it tells something of. Throws InputError
/// for what cannot be used.
[[nodiscard]] std::vector<Subject> load_subjects(const std::string& file,
                                                 const LoadOptions& options);

}  // namespace fragcast
