#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "replay/formats/byte_source.hpp"
#include "replay/formats/pickle/builder.hpp"
#include "replay/formats/pickle/tables.hpp"
#include "replay/formats/snapshot/fields.hpp"
#include "replay/formats/snapshot/parts.hpp"
#include "replay/formats/snapshot/words.hpp"

namespace fragcast {

/// Makes the records of a snapshot from its dicts: each function adds one to the parts and returns
/// its handle. They throw InputError for a value of the wrong type or range, and for a record that
/// lacks what it cannot be without; keys that they do not know are counted.
class SnapshotRecords {
 public:
  /// All must outlive it.
  SnapshotRecords(const PickleTables& tables, SnapshotFields& fields, SnapshotParts& parts)
      : tables_{tables}, fields_{fields}, parts_{parts} {}

  [[nodiscard]] PickleValue entry(const PickleObject& dict);
  [[nodiscard]] PickleValue segment(const PickleObject& dict);
  [[nodiscard]] PickleValue block(const PickleObject& dict);
  [[nodiscard]] PickleValue past_use(const PickleObject& dict);
  [[nodiscard]] PickleValue frame(const PickleObject& dict);
  [[nodiscard]] PickleValue annotation(const PickleObject& dict);
  [[nodiscard]] PickleValue settings(const PickleObject& dict);
  [[nodiscard]] PickleValue divisions(const PickleObject& dict);
  /// Of a tuple or list of two integers.
  [[nodiscard]] PickleValue pool(const PickleObject& pair);

  /// Adds what was counted of unknown keys and actions to the recording.
  void report_unknown();
  void count_unknown_key(PickleText key) { ++unknown_keys_[key.value()]; }

 private:
  using StreamIndex = StrongId<struct RecordedStreamTag>;
  using PoolIndex = StrongId<struct RecordedPoolTag>;

  template <class Use>
  void for_each_field(const PickleObject& dict, Use use);

  [[nodiscard]] RecordedAction action(PickleText key, PickleValue value);
  [[nodiscard]] RecordedState state(PickleText key, PickleValue value) const;
  [[nodiscard]] StackId stack(PickleText key, PickleValue value) const;
  [[nodiscard]] std::uint16_t stream(PickleText key, PickleValue value);
  [[nodiscard]] std::uint16_t pool(PickleText key, PickleValue value) const;

  const PickleTables& tables_;
  SnapshotFields& fields_;
  SnapshotParts& parts_;
  IdIndex<StreamIndex> stream_index_;
  IdIndex<PoolIndex> pool_index_;
  /// By text.
  std::unordered_map<std::uint32_t, std::uint64_t> unknown_keys_;
  std::unordered_map<std::uint32_t, std::uint64_t> unknown_actions_;
};

}  // namespace fragcast
