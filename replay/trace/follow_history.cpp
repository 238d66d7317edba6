#include "replay/trace/follow_history.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "policies/caching/sizes.hpp"
#include "replay/trace/address_map.hpp"
#include "replay/trace/between_requests.hpp"
#include "replay/trace/event_writer.hpp"
#include "replay/trace/late_free.hpp"

namespace fragcast {
namespace {

/// A block in use or waiting for its events.
struct FollowedBlock {
  AllocationId id;
  bool pending = false;
  /// Holds a pending block back; absent if there was none left to do so.
  std::optional<StreamId> held_by;
};

/// A block whose delayed free is complete.
struct CompletedBlock {
  BlockKey key;
  Bytes size;
};

class Follower {
 public:
  Follower(const KnownStart& known, StartState start, Trace& trace, AnomalyCounts& anomalies)
      : known_{known},
        entries_{known.device.entries},
        trace_{trace},
        anomalies_{anomalies},
        reserved_{std::move(start.reserved)},
        ranges_{std::move(start.ranges)},
        writer_{trace,
                {.streams = known.names.handles.size(), .pools = known.names.pool_ids.size()}} {
    adopt(start);
  }

  RecordedHistory run();

 private:
  void adopt(StartState& start);
  void follow(std::size_t index);

  void allocated(std::size_t index);
  void failed(std::size_t index);
  void free_requested(std::size_t index);
  void free_completed(std::size_t index);
  void grown(std::size_t index);
  void released(std::size_t index);

  [[nodiscard]] bool completes_at_once(std::size_t index) const;
  [[nodiscard]] AllocationId name_allocation(std::size_t index, Address address);
  void look_for_needless_runs(const SoughtBlock& sought);
  /// The largest part of what was given back that no completed block lay in.
  [[nodiscard]] Bytes free_before(Extent released, StreamId stream, PoolKind kind, bool unmapped);
  void settle_before(FollowedBy request, PoolId pool);
  void settle(const ReleaseRun& run, FollowedBy request, PoolId pool);
  void settle_after();
  void write_call(const ReleaseRun& run, RunCause cause);
  void release_pools(const ReleaseRun& run, PoolId except);
  ReleaseRun& run_of(std::size_t index);
  void close_run();
  [[nodiscard]] PoolId pool_of_growth(std::size_t index);
  [[nodiscard]] PoolId pool_of_block(std::size_t index) const;
  void note(LogAction action, std::size_t index, PoolId pool);
  [[nodiscard]] BlockKey key(std::size_t index) const {
    return {.stream = known_.names.stream(entries_[index].stream),
            .address = entries_[index].address};
  }

  const KnownStart& known_;
  const ChunkedVector<RecordedEntry>& entries_;
  Trace& trace_;
  AnomalyCounts& anomalies_;
  RecordedHistory out_;

  ReservedMemory reserved_;
  LiveRanges ranges_;
  AddressMap<FollowedBlock> live_;
  EventWriter writer_;

  BetweenRequests between_;
  /// Pending blocks that were completed since the latest request.
  std::vector<CompletedBlock> completed_;
  /// The latest request, if it was a free that seems to be completed at once.
  std::optional<std::uint32_t> completed_at_once_;
  /// The last of `between_.runs` may still grow.
  bool run_is_open_ = false;
  /// To be completed once the request is written.
  std::vector<StreamId> after_request_;
  std::size_t requests_ = 0;
  std::size_t next_private_growth_ = 0;
  /// So many planned ranges have their owners as the trace numbers them.
  std::size_t named_ranges_ = 0;
  /// The latest failed request, while nothing was allocated since.
  std::optional<std::size_t> last_failure_;
};

void Follower::adopt(StartState& start) {
  out_.initial_reserved = out_.peak_reserved = reserved_.total();
  for (const SegmentPicture& segment : start.heap.segments) {
    if (segment.pool != PoolId{}) writer_.adopt_pool(segment.pool);
  }
  trace_.initial.heap = std::move(start.heap);
  for (std::size_t i = 0; i < start.blocks.size(); ++i) {
    const SizedBlock& sized = start.blocks[i];
    const AllocationId id{i};
    FollowedBlock block{.id = id, .pending = sized.block.pending, .held_by = {}};
    if (block.pending) {
      block.held_by = writer_.hold_back();
      if (block.held_by) {
        trace_.initial.pending.push_back({.allocation = id, .stream = *block.held_by});
      }
    }
    live_.put(sized.block.key, block);
    reserved_.block_begins(sized.block.key);
    trace_.allocations.push_back({.stack = sized.block.stack});
    out_.addresses.push_back(sized.block.key.address);
    if (sized.inferred) trace_.initial.inferred_sizes.push_back(id);
    if (sized.uncertain) out_.uncertain_sizes.push_back(id);
  }
}

RecordedHistory Follower::run() {
  for (std::size_t i = known_.walked.first_entry; i < entries_.size(); ++i) follow(i);
  settle_before(FollowedBy::end, PoolId{});
  out_.final_reserved = reserved_.total();
  return std::move(out_);
}

void Follower::follow(std::size_t index) {
  switch (entries_[index].action) {
    case RecordedAction::alloc:
      return allocated(index);
    case RecordedAction::free_requested:
      return free_requested(index);
    case RecordedAction::free_completed:
      return free_completed(index);
    case RecordedAction::segment_alloc:
    case RecordedAction::segment_map:
      return grown(index);
    case RecordedAction::segment_free:
    case RecordedAction::segment_unmap:
      return released(index);
    case RecordedAction::oom:
      return failed(index);
    case RecordedAction::snapshot:
    case RecordedAction::workspace_snapshot:
    case RecordedAction::annotate:
    case RecordedAction::unknown:
      return;
  }
}

AllocationId Follower::name_allocation(std::size_t index, Address address) {
  const AllocationId id{trace_.allocations.size()};
  trace_.allocations.push_back({.stack = entries_[index].stack});
  out_.addresses.push_back(address);
  return id;
}

void Follower::allocated(std::size_t index) {
  const RecordedEntry& entry = entries_[index];
  const PoolId pool = pool_of_block(index);
  look_for_needless_runs(
      {.stream = key(index).stream,
       .pool = pool,
       .rounded = round_size(entry.size, known_.conditions.padding, known_.conditions.settings)});
  settle_before(FollowedBy::allocation, pool);
  if (const FollowedBlock* before = live_.find(key(index))) {
    anomalies_.add(Anomaly::allocation_over_live);
    if (!before->pending) writer_.deallocate(before->id);
    reserved_.block_ends(key(index));
  }
  const AllocationId id = name_allocation(index, entry.address);
  writer_.at(index);
  writer_.allocate({.id = id, .size = entry.size, .stream = key(index).stream, .pool = pool});
  ++requests_;
  live_.put(key(index), {.id = id, .pending = false, .held_by = {}});
  reserved_.block_begins(key(index));
  last_failure_.reset();
  settle_after();
}

void Follower::failed(std::size_t index) {
  const RecordedEntry& entry = entries_[index];
  const PoolId pool = known_.names.pool(entry.pool);
  look_for_needless_runs(
      {.stream = known_.names.stream(entry.stream), .pool = pool, .rounded = entry.size});
  settle_before(FollowedBy::failure, pool);
  // A program that tries again wants one block, not two.
  const bool again = last_failure_ && entries_[*last_failure_].size == entry.size &&
                     entries_[*last_failure_].stream == entry.stream &&
                     entries_[*last_failure_].pool == entry.pool;
  const AllocationId id =
      again ? AllocationId{trace_.allocations.size() - 1} : name_allocation(index, Address{});
  writer_.at(index);
  writer_.allocate({.id = id,
                    .size = entry.size,
                    .stream = known_.names.stream(entry.stream),
                    .pool = pool,
                    .failed = true});
  ++requests_;
  ++out_.failures;
  last_failure_ = index;
  settle_after();
}

bool Follower::completes_at_once(std::size_t index) const {
  if (known_.walked.leaves_completions_out) return true;
  if (index + 1 >= entries_.size()) return false;
  const RecordedEntry& next = entries_[index + 1];
  return next.action == RecordedAction::free_completed && next.address == entries_[index].address &&
         next.stream == entries_[index].stream &&
         !known_.verdicts.late_frees.contains(static_cast<std::uint32_t>(index)) &&
         !waited_for_flush(known_.device, index, reserved_.total(), known_.conditions);
}

void Follower::free_requested(std::size_t index) {
  settle_before(FollowedBy::free, PoolId{});
  FollowedBlock* block = live_.find(key(index));
  if (block == nullptr || block->pending) {
    anomalies_.add(Anomaly::free_of_unknown);
    return;
  }
  writer_.at(index);
  ++requests_;
  // The completion that follows at once finds nothing any more, and says nothing new.
  if (completes_at_once(index)) {
    completed_at_once_ = static_cast<std::uint32_t>(index);
    writer_.deallocate(block->id);
    reserved_.block_ends(key(index));
    live_.erase(key(index));
    return;
  }
  block->pending = true;
  block->held_by = writer_.deallocate_later(block->id);
  if (!block->held_by) anomalies_.add(Anomaly::streams_exhausted);
}

void Follower::free_completed(std::size_t index) {
  const FollowedBlock* found = live_.find(key(index));
  if (found == nullptr) return;
  const FollowedBlock block = *found;
  if (block.pending) {
    if (block.held_by) run_of(index).completions.push_back(*block.held_by);
    const Bytes rounded =
        round_size(entries_[index].size, known_.conditions.padding, known_.conditions.settings);
    completed_.push_back({.key = key(index), .size = rounded});
  } else {
    settle_before(FollowedBy::free, PoolId{});
    writer_.at(index);
    writer_.deallocate(block.id);
    ++requests_;
  }
  reserved_.block_ends(key(index));
  live_.erase(key(index));
}

PoolId Follower::pool_of_growth(std::size_t index) {
  const auto& known = known_.walked.private_growths;
  if (next_private_growth_ < known.size() && known[next_private_growth_].first == index) {
    return known[next_private_growth_++].second;
  }
  return known_.names.pool(entries_[index].pool);
}

PoolId Follower::pool_of_block(std::size_t index) const {
  if (known_.recording.entries_have_pools) return known_.names.pool(entries_[index].pool);
  const Stretch* stretch = reserved_.find(key(index));
  return stretch == nullptr ? PoolId{} : stretch->pool;
}

void Follower::note(LogAction action, std::size_t index, PoolId pool) {
  out_.segment_events.push_back({.what = {.action = action,
                                          .address = entries_[index].address,
                                          .size = entries_[index].size,
                                          .stream = key(index).stream,
                                          .pool = pool},
                                 .entry = static_cast<std::uint32_t>(index)});
}

void Follower::grown(std::size_t index) {
  const RecordedEntry& entry = entries_[index];
  const bool mapped = entry.action == RecordedAction::segment_map;
  const PoolId pool = pool_of_growth(index);
  const Extent extent{entry.address, entry.size};
  const PoolKind kind = kind_of_map(entry.size);
  const StreamId stream = key(index).stream;
  close_run();
  between_.growth += entry.size;
  const Stretch stretch{
      .extent = extent, .stream = stream, .pool = pool, .kind = kind, .expandable = mapped};
  if (!reserved_.add(stretch)) {
    reserved_.take(stream, extent);
    reserved_.add(stretch);
  }
  if (!mapped) {
    trace_.addresses.segments.push_back({.address = entry.address, .size = entry.size});
  } else if (const RangeOwner owner{.stream = stream, .pool = pool, .kind = kind};
             ranges_.map(owner, extent)) {
    trace_.addresses.ranges.push_back(
        {.address = entry.address, .size = ranges_.reach(), .owner = owner});
  }
  note(mapped ? LogAction::segment_map : LogAction::segment_alloc, index, pool);
  ++out_.device_allocs;
  out_.peak_reserved = std::max(out_.peak_reserved, reserved_.total());
}

void Follower::released(std::size_t index) {
  const RecordedEntry& entry = entries_[index];
  const bool unmapped = entry.action == RecordedAction::segment_unmap;
  const StreamId stream = key(index).stream;
  ReleaseRun& run = run_of(index);
  const auto stretch = reserved_.take(stream, {entry.address, entry.size});
  const PoolId pool = known_.recording.entries_have_pools || !stretch
                          ? known_.names.pool(entry.pool)
                          : stretch->pool;
  if (unmapped && stretch) {
    ranges_.unmap({.stream = stream, .pool = pool, .kind = *stretch->kind},
                  {entry.address, entry.size});
  }
  const Extent extent{entry.address, entry.size};
  const PoolKind kind = stretch && stretch->kind ? *stretch->kind : kind_of_map(entry.size);
  run.collectable = run.collectable && !unmapped && pool == PoolId{} && kind == PoolKind::large;
  run.releases.push_back({.size = entry.size,
                          .pool = pool,
                          .stream = stream,
                          .kind = kind,
                          .free_before = free_before(extent, stream, kind, unmapped)});
  note(unmapped ? LogAction::segment_unmap : LogAction::segment_free, index, pool);
  ++out_.device_frees;
}

/// The run to which an entry belongs: a new one behind growth, and for a completion behind a
/// release.
ReleaseRun& Follower::run_of(std::size_t index) {
  const bool completion = entries_[index].action == RecordedAction::free_completed;
  const bool splits = known_.verdicts.begins.contains(static_cast<std::uint32_t>(index));
  if (run_is_open_ && completion && !between_.runs.back().releases.empty()) close_run();
  if (run_is_open_ && splits) close_run();
  if (!run_is_open_) {
    between_.runs.push_back({.completions = {},
                             .releases = {},
                             .reserved_before = reserved_.total(),
                             .after_growth = between_.growth > Bytes{}});
    run_is_open_ = true;
  }
  ReleaseRun& run = between_.runs.back();
  run.last_entry = index;
  if (completion) run.last_completion = index;
  return run;
}

void Follower::close_run() {
  if (!run_is_open_) return;
  between_.runs.back().thorough = reserved_.idle_segments() == 0;
  run_is_open_ = false;
}

void Follower::look_for_needless_runs(const SoughtBlock& sought) {
  const AllocatorSettings& settings = known_.conditions.settings;
  for (ReleaseRun& run : between_.runs) {
    for (const RecordedRelease& release : run.releases) {
      run.serves_before |= would_serve(release, release.free_before, sought, settings);
      run.serves_completed |= would_serve(release, release.size, sought, settings);
    }
  }
}

Bytes Follower::free_before(Extent released, StreamId stream, PoolKind kind, bool unmapped) {
  std::sort(completed_.begin(), completed_.end(), [](const auto& a, const auto& b) {
    return a.key < b.key;
  });
  const Bytes unsplittable = known_.conditions.settings.max_split_size;
  Bytes largest;
  Address at = released.begin;
  for (const CompletedBlock& block : completed_) {
    if (block.key.stream != stream || !released.contains(block.key.address)) continue;
    largest = std::max(largest, block.key.address - at);
    at = block.key.address + block.size;
    const bool whole = !unmapped && kind == PoolKind::large && block.size >= unsplittable;
    if (whole) at = released.end();
  }
  return at < released.end() ? std::max(largest, released.end() - at) : largest;
}

void Follower::settle_before(FollowedBy request, PoolId pool) {
  if (!between_.empty()) {
    close_run();
    for (const ReleaseRun& run : between_.runs) settle(run, request, pool);
  }
  between_.clear();
  completed_.clear();
  completed_at_once_.reset();
}

void Follower::settle(const ReleaseRun& run, FollowedBy request, PoolId pool) {
  const auto entry = static_cast<std::uint32_t>(run.last_entry);
  const auto known = known_.verdicts.causes.find(entry);
  const RunCause cause = known != known_.verdicts.causes.end()
                             ? known->second
                             : cause_of(run, between_.growth, request, known_.conditions);
  out_.runs.push_back({.entry = entry,
                       .cause = cause,
                       .releases = static_cast<std::uint32_t>(run.releases.size()),
                       .free_before = completed_at_once_,
                       .of_one_pool = of_one_private_pool(run)});
  writer_.at(run.last_completion);
  if (completes_before_request(cause, request)) {
    writer_.complete(run.completions);
  } else {
    after_request_.insert(after_request_.end(), run.completions.begin(), run.completions.end());
  }
  switch (cause) {
    case RunCause::none:
    case RunCause::own_partial:
      return;
    // A pool that is being allocated from is in use, whatever was taken from it.
    case RunCause::own_flush:
      writer_.at(run.last_entry);
      return release_pools(run, pool);
    case RunCause::unexplained:
      anomalies_.add(Anomaly::release_unexplained);
      [[fallthrough]];
    case RunCause::empty_cache:
    case RunCause::pool_empty:
      return write_call(run, cause);
  }
}

void Follower::settle_after() {
  auto& ranges = trace_.addresses.ranges;
  for (; named_ranges_ < ranges.size(); ++named_ranges_) {
    PoolId& pool = ranges[named_ranges_].owner.pool;
    pool = writer_.number_of(pool);
  }
  if (!after_request_.empty()) writer_.complete(after_request_);
  after_request_.clear();
}

void Follower::write_call(const ReleaseRun& run, RunCause cause) {
  writer_.at(run.last_entry);
  release_pools(run, PoolId{});
  EmptyCacheCall call{.entry = static_cast<std::uint32_t>(run.last_entry),
                      .request = requests_,
                      .released = {},
                      .releases = run.releases.size(),
                      .pool = {}};
  for (const RecordedRelease& release : run.releases) call.released += release.size;
  if (cause == RunCause::pool_empty) {
    call.pool = run.releases.front().pool;
    writer_.empty_pool(call.pool);
  } else {
    writer_.empty_cache();
  }
  call.event = trace_.events.size() - 1;
  out_.empty_cache_calls.push_back(call);
}

void Follower::release_pools(const ReleaseRun& run, PoolId except) {
  for (const RecordedRelease& release : run.releases) {
    if (release.pool != PoolId{} && release.pool != except) writer_.release_pool(release.pool);
  }
}

}  // namespace

RecordedHistory follow_history(const KnownStart& known,
                               StartState start,
                               Trace& trace,
                               AnomalyCounts& anomalies) {
  return Follower{known, std::move(start), trace, anomalies}.run();
}

}  // namespace fragcast
