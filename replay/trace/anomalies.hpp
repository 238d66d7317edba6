#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fragcast {

/// What a history and its final state cannot both be right about, or what only a cut history shows.
/// Each is tolerated, and counted: torch copies the history before it looks at the blocks, so other
/// threads can come between, and a ring buffer drops the oldest entries.
enum class Anomaly : std::uint8_t {
  allocation_gone,        ///< allocated and not freed, yet no block of the final state
  allocation_replaced,    ///< its block in the final state belongs to another request
  allocation_later,       ///< a block of the final state lies where the history had another one
  free_undone,            ///< freed, yet a live block of the final state
  completion_missing,     ///< freed and not completed, yet not pending in the final state
  segment_gone,           ///< made and not given back, yet not in the final state
  segment_back,           ///< given back, yet in the final state
  completion_alone,       ///< completed, but asked for before the history begins
  block_without_segment,  ///< a block in no segment: one was made up around it
  block_does_not_fit,     ///< a rounded size that its neighbours leave no room for
  free_of_unknown,        ///< a free of nothing
  allocation_over_live,   ///< an allocation at the address of a live block
  release_unexplained,    ///< memory given back in part by no known mechanism
  streams_exhausted,      ///< more frees pending at once than there are stream numbers
};
inline constexpr std::size_t anomaly_kinds = 14;

struct AnomalyText {
  /// Stable, for machines.
  std::string_view id;
  /// What was found, and how it was taken.
  std::string_view text;
};
[[nodiscard]] AnomalyText describe(Anomaly anomaly);

/// How often each anomaly was met.
class AnomalyCounts {
 public:
  void add(Anomaly anomaly, std::uint64_t times = 1) { counts_[index(anomaly)] += times; }
  [[nodiscard]] std::uint64_t operator[](Anomaly anomaly) const { return counts_[index(anomaly)]; }
  [[nodiscard]] std::uint64_t total() const;

  /// Calls `visit(anomaly, count)` for each that occurred.
  template <class Visitor>
  void for_each(Visitor visit) const {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] > 0) visit(static_cast<Anomaly>(i), counts_[i]);
    }
  }

 private:
  static std::size_t index(Anomaly anomaly) { return static_cast<std::size_t>(anomaly); }

  std::array<std::uint64_t, anomaly_kinds> counts_{};
};

}  // namespace fragcast
