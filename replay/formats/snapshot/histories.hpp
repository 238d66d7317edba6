#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "replay/formats/pickle/value.hpp"
#include "replay/formats/recording.hpp"
#include "sim/core/chunked_vector.hpp"

namespace fragcast {

/// The entries of one list of a snapshot.
struct History {
  ChunkedVector<RecordedEntry> entries;
  /// One for each entry, or none at all.
  ChunkedVector<std::int64_t> times_us;

  /// An entry without a time, among others with one, gets that of its neighbour.
  void push_back(const RecordedEntry& entry, std::optional<std::int64_t> time_us);
};

/// Collects history entries where they will stay. A pickle tells them before the list they are in,
/// so all go to the history being filled; a list remembers only which runs of entries it holds,
/// and when it is complete that nearly always is exactly that history.
class Histories {
 public:
  /// A handle for the entry, which joins the history being filled; none if there are too many.
  [[nodiscard]] std::optional<PickleValue> add(const RecordedEntry& entry,
                                               std::optional<std::int64_t> time_us);

  /// Adds entries to the items of a list: pairs of the first and the last of a run. Returns the
  /// first that is no entry, if any.
  [[nodiscard]] static std::optional<PickleValue> extend(std::vector<PickleValue>& runs,
                                                         std::span<const PickleValue> entries);

  /// The handle of the history that a complete list is; none if there are too many.
  [[nodiscard]] std::optional<PickleValue> close(std::span<const PickleValue> runs);

  [[nodiscard]] History& operator[](PickleValue history) { return histories_[history.payload()]; }

  /// Of entries added.
  [[nodiscard]] std::uint64_t entry_count() const { return entry_count_; }

 private:
  [[nodiscard]] bool is_all_of_one(std::span<const PickleValue> runs) const;

  std::vector<History> histories_;
  /// Whether the last history can still grow.
  bool filling_ = false;
  std::uint64_t entry_count_ = 0;
};

}  // namespace fragcast
