#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "replay/trace/recorded_conditions.hpp"
#include "sim/core/bytes.hpp"
#include "sim/core/strong_id.hpp"

namespace fragcast {

/// Memory given back to the device, as one entry tells.
struct RecordedRelease {
  Bytes size;
  PoolId pool;
  StreamId stream = {};
  PoolKind kind = PoolKind::large;
  /// The largest part of it that was free before the completions of the run.
  Bytes free_before;
};

/// Some completions of delayed frees, and the memory that was given back right behind them: what a
/// garbage collection, a flush or an `empty_cache` leaves in a history.
struct ReleaseRun {
  /// The streams that held these frees back.
  std::vector<StreamId> completions;
  std::vector<RecordedRelease> releases;
  /// Indices of the last entry of the run, and of its last completion.
  std::size_t last_entry = 0;
  std::size_t last_completion = 0;
  /// Held when the run began.
  Bytes reserved_before;
  /// The same request had already got memory from the device before the run.
  bool after_growth = false;
  /// The default pools were left without a segment that could be given back.
  bool thorough = true;
  /// Some of it was free before the run, or is free after its completions, and would have served
  /// the request that follows: a request that looked for a block then had no reason to take
  /// anything back.
  bool serves_before = false;
  bool serves_completed = false;
  /// All of it is what garbage collection takes: whole large segments of the default pool.
  bool collectable = true;
};

/// What a history holds between two requests.
///
///     … free │ completions, releases │ completions, releases │ segment_alloc … │ alloc …
///              run                     run                     growth            request
struct BetweenRequests {
  std::vector<ReleaseRun> runs;
  /// Got from the device for the request that follows.
  Bytes growth;

  [[nodiscard]] bool empty() const { return runs.empty(); }
  void clear() {
    runs.clear();
    growth = Bytes{};
  }
};

/// What comes behind: a request or the end of the history.
enum class FollowedBy : std::uint8_t { allocation, failure, free, end };

/// What a run came from.
enum class RunCause : std::uint8_t {
  /// No memory was given back: completions only.
  none,
  /// The request itself made room for itself: a model does the same by itself.
  own_flush,
  /// The request itself took back some memory: garbage collection or oversize release.
  own_partial,
  empty_cache,
  /// An empty_cache of one private pool.
  pool_empty,
  /// As empty_cache; but it left memory behind that it should have given back.
  unexplained,
};

/// What is known better than entries tell it.
struct RunVerdicts {
  /// What runs came from, by their last entries.
  std::map<std::uint32_t, RunCause> causes;
  /// Entries with which a run begins, although they seem to continue one.
  std::set<std::uint32_t> begins;
  /// Requested frees that waited for events, although they seem to be completed at once.
  std::set<std::uint32_t> late_frees;

  [[nodiscard]] std::size_t count() const {
    return causes.size() + begins.size() + late_frees.size();
  }
};

[[nodiscard]] bool of_one_private_pool(const ReleaseRun& run);

/// Says what the run came from.
///
/// A request takes memory back when it finds no block, and the device, or a limit, has no room for
/// what it then gets, or garbage collection is due. If it had no need, someone called `empty_cache`
/// before it. What a failing request leaves behind is its own, unless it would have served it.
[[nodiscard]] RunCause cause_of(const ReleaseRun& run,
                                Bytes growth,
                                FollowedBy followed_by,
                                const RecordedConditions& conditions);

/// A request, as the allocator looks for a block for it.
struct SoughtBlock {
  StreamId stream;
  PoolId pool;
  Bytes rounded;
};

/// Whether a free block of `size` in memory that was given back would have served this request
/// instead.
[[nodiscard]] bool would_serve(const RecordedRelease& release,
                               Bytes size,
                               const SoughtBlock& sought,
                               const AllocatorSettings& settings);

/// Whether the completions of a run of this cause belong before the request that follows: only a
/// flush, and whatever a failing request did itself, came after the request had looked for a free
/// block.
[[nodiscard]] bool completes_before_request(RunCause cause, FollowedBy followed_by);

}  // namespace fragcast
