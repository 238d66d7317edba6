#pragma once

#include <optional>
#include <span>
#include <vector>

#include "replay/formats/pickle/builder.hpp"
#include "replay/formats/snapshot/fields.hpp"
#include "replay/formats/snapshot/parts.hpp"
#include "replay/formats/snapshot/records.hpp"

namespace fragcast {

/// Turns the objects of a snapshot's pickle into records. What a dict describes is told by its
/// keys: one with `action` is a history entry, one with `filename` a stack frame, and so on; what a
/// list is by its items. Of each only a handle (Handle) remains in the pickle. Objects that nobody
/// needs become opaque, wrong ones broken; to find one where a record belongs is an InputError.
class SnapshotBuilder final : public PickleBuilder {
 public:
  /// All must outlive the builder.
  SnapshotBuilder(SnapshotFields& fields, SnapshotRecords& records, SnapshotParts& parts)
      : fields_{fields}, records_{records}, parts_{parts} {}

  void append(PickleObject& list, std::span<const PickleValue> items) override;
  [[nodiscard]] PickleValue finish(PickleObject& object, std::optional<PickleText> key) override;

 private:
  [[nodiscard]] PickleValue make_record(PickleObject& object, std::optional<PickleText> key);
  [[nodiscard]] PickleValue finish_dict(const PickleObject& dict, std::optional<PickleText> key);
  [[nodiscard]] PickleValue finish_list(PickleObject& list);
  [[nodiscard]] PickleValue finish_frames(const PickleObject& list);
  [[nodiscard]] PickleValue finish_blocks(const PickleObject& list);

  SnapshotFields& fields_;
  SnapshotRecords& records_;
  SnapshotParts& parts_;
  /// Of the list being finished.
  std::vector<FrameId> frames_;
};

}  // namespace fragcast
