#include "replay/trace/late_free.hpp"

#include "policies/caching/sizes.hpp"
#include "replay/trace/between_requests.hpp"

namespace fragcast {
namespace {

/// Whether oversize blocks are kept apart in such a way that the block is none for the request.
bool kept_apart(Bytes block, Bytes rounded, const AllocatorSettings& settings) {
  if (rounded < settings.max_split_size) return block >= settings.max_split_size;
  return block >= rounded + settings.max_non_split_rounding;
}

/// Whether the block freed by `freed` could serve a request for `rounded` bytes.
bool would_fit(Bytes rounded,
               const RecordedEntry& request,
               const RecordedEntry& freed,
               const RecordedConditions& conditions) {
  const Bytes block = round_size(freed.size, conditions.padding, conditions.settings);
  return request.stream == freed.stream && request.pool == freed.pool && rounded <= block &&
         pool_kind(rounded) == pool_kind(block) && !kept_apart(block, rounded, conditions.settings);
}

}  // namespace

bool waited_for_flush(const RecordedDevice& device,
                      std::size_t index,
                      Bytes reserved,
                      const RecordedConditions& conditions) {
  ReleaseRun run;
  run.reserved_before = reserved;
  Bytes growth;
  for (std::size_t i = index + 2; i < device.entries.size(); ++i) {
    const RecordedEntry& entry = device.entries[i];
    switch (entry.action) {
      case RecordedAction::segment_free:
      case RecordedAction::segment_unmap:
        run.releases.push_back({.size = entry.size, .pool = {}});
        break;
      case RecordedAction::segment_alloc:
      case RecordedAction::segment_map:
        growth += entry.size;
        break;
      case RecordedAction::alloc: {
        const Bytes rounded = round_size(entry.size, conditions.padding, conditions.settings);
        return cause_of(run, growth, FollowedBy::allocation, conditions) == RunCause::own_flush &&
               would_fit(rounded, entry, device.entries[index], conditions);
      }
      case RecordedAction::oom:
        return would_fit(entry.size, entry, device.entries[index], conditions);
      case RecordedAction::free_requested:
        return false;
      case RecordedAction::free_completed:
      case RecordedAction::snapshot:
      case RecordedAction::workspace_snapshot:
      case RecordedAction::annotate:
      case RecordedAction::unknown:
        break;
    }
  }
  return false;
}

}  // namespace fragcast
