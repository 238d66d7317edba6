#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policies/caching/settings.hpp"
#include "policies/registry.hpp"
#include "replay/formats/recording.hpp"
#include "replay/trace/note.hpp"
#include "replay/trace/trace.hpp"
#include "replay/trace/walk_back.hpp"
#include "sim/core/bytes.hpp"

namespace fragcast {

/// What the user says about the run that was recorded. What is absent is looked for in the file.
struct StatedConditions {
  /// A name of the registry.
  std::optional<std::string> model;
  /// Of the model; null where nothing is stated.
  const ModelRelease* release = nullptr;
  std::optional<std::string> settings;
  std::optional<Soc> soc;
  std::optional<Bytes> device_memory;
  /// 0..1 of the device's memory.
  std::optional<double> fraction;
};

/// Under what a recording was made, as stated, recorded or inferred.
struct RecordedConditions {
  /// A name of the registry, if the registry has it.
  std::string model;
  /// Of the model; null if the registry does not have it.
  const ModelRelease* release = nullptr;
  AllocatorSettings settings;
  /// Added to every request before rounding.
  Bytes padding;
  /// As the allocator saw it; 64 GiB where nothing tells.
  Bytes device_total = 64_GiB;
  /// The same as strings and numbers, for the trace. The device memory is absent where nothing
  /// tells.
  Conditions conditions;
  /// What each of these rests on.
  std::vector<Note> evidence;

  /// The recorded release if that is one of `model`, else null.
  [[nodiscard]] const ModelRelease* release_of(const ModelEntry& of_model) const {
    return of_model.name == model ? release : nullptr;
  }
  /// What the allocator may hold at most; unlimited where nothing tells.
  [[nodiscard]] Bytes limit() const;
};

/// Finds out under what a recording was made. Stated settings that the model refuses are an
/// InputError.
[[nodiscard]] RecordedConditions infer_conditions(const Recording& recording,
                                                  const RecordedDevice& device,
                                                  const WalkedBack& walked,
                                                  const StatedConditions& stated);

}  // namespace fragcast
