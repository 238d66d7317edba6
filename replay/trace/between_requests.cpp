#include "replay/trace/between_requests.hpp"

#include <algorithm>

#include "policies/caching/sizes.hpp"

namespace fragcast {
namespace {

bool lacked_room(const ReleaseRun& run, Bytes growth, const RecordedConditions& conditions) {
  if (run.reserved_before + growth > conditions.limit()) return true;
  const auto& memory = conditions.conditions.device_memory;
  return memory && run.reserved_before + growth > *memory;
}

bool garbage_was_due(const ReleaseRun& run, const RecordedConditions& conditions) {
  const double threshold = conditions.settings.garbage_collection_threshold;
  if (threshold <= 0.0 || conditions.limit() == Bytes::unlimited()) return false;
  const auto held = static_cast<double>(run.reserved_before.count());
  return held > threshold * static_cast<double>(conditions.limit().count());
}

}  // namespace

bool of_one_private_pool(const ReleaseRun& run) {
  if (run.releases.empty() || run.releases.front().pool == PoolId{}) return false;
  const PoolId pool = run.releases.front().pool;
  return std::all_of(run.releases.begin(), run.releases.end(), [&](const RecordedRelease& r) {
    return r.pool == pool;
  });
}

RunCause cause_of(const ReleaseRun& run,
                  Bytes growth,
                  FollowedBy followed_by,
                  const RecordedConditions& conditions) {
  if (run.releases.empty()) return RunCause::none;
  const RunCause own = run.thorough ? RunCause::own_flush : RunCause::own_partial;
  if (run.after_growth) return own;
  // Only a flush completes frees by itself, after the search; all else comes behind a search that
  // saw them completed.
  const bool may_be_partial = !run.serves_completed;
  const bool may_be_own = own == RunCause::own_flush ? !run.serves_before : may_be_partial;
  if (followed_by == FollowedBy::failure && may_be_own) return own;
  const bool grew = followed_by == FollowedBy::allocation && growth > Bytes{};
  if (grew && may_be_own && lacked_room(run, growth, conditions)) return own;
  if (grew && may_be_partial && run.collectable && garbage_was_due(run, conditions)) {
    return RunCause::own_partial;
  }
  if (of_one_private_pool(run)) return RunCause::pool_empty;
  if (run.thorough) return RunCause::empty_cache;
  return grew && may_be_partial ? RunCause::own_partial : RunCause::unexplained;
}

bool would_serve(const RecordedRelease& release,
                 Bytes size,
                 const SoughtBlock& sought,
                 const AllocatorSettings& settings) {
  if (size < sought.rounded) return false;
  if (release.stream != sought.stream || release.pool != sought.pool) return false;
  if (release.kind != pool_kind(sought.rounded)) return false;
  // Oversize blocks are kept for oversize requests, and not for much smaller ones.
  if (sought.rounded < settings.max_split_size) return size < settings.max_split_size;
  return size < sought.rounded + settings.max_non_split_rounding;
}

bool completes_before_request(RunCause cause, FollowedBy followed_by) {
  switch (cause) {
    case RunCause::own_flush:
      return false;
    case RunCause::none:
    case RunCause::own_partial:
      return followed_by != FollowedBy::failure;
    case RunCause::empty_cache:
    case RunCause::pool_empty:
    case RunCause::unexplained:
      return true;
  }
  return true;
}

}  // namespace fragcast
