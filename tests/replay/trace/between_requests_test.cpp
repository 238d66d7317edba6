#include "replay/trace/between_requests.hpp"

#include "policies/caching/settings.hpp"
#include "tests/support/catch.hpp"

using namespace fragcast;

namespace {

/// A run that gave back 20 MiB of one pool while 100 MiB were held.
ReleaseRun run_of(PoolId pool, bool thorough) {
  return {.completions = {},
          .releases = {{.size = 20_MiB, .pool = pool}},
          .reserved_before = 100_MiB,
          .after_growth = false,
          .thorough = thorough};
}

const ReleaseRun thorough_run = run_of({}, true);
const ReleaseRun partial_run = run_of({}, false);

RecordedConditions on_device(std::optional<Bytes> memory) {
  RecordedConditions conditions;
  conditions.conditions.device_memory = memory;
  if (memory) conditions.device_total = *memory;
  return conditions;
}

}  // namespace

TEST_CASE("memory given back before a free, or at the end, is an empty_cache call") {
  const RecordedConditions conditions = on_device(110_MiB);
  CHECK(cause_of(thorough_run, 0_B, FollowedBy::free, conditions) == RunCause::empty_cache);
  CHECK(cause_of(thorough_run, 0_B, FollowedBy::end, conditions) == RunCause::empty_cache);
  CHECK(cause_of(thorough_run, 0_B, FollowedBy::allocation, conditions) == RunCause::empty_cache);
}

TEST_CASE("memory given back before a request that had room is an empty_cache call") {
  CHECK(cause_of(thorough_run, 20_MiB, FollowedBy::allocation, on_device({})) ==
        RunCause::empty_cache);
  CHECK(cause_of(thorough_run, 20_MiB, FollowedBy::allocation, on_device(120_MiB)) ==
        RunCause::empty_cache);
}

TEST_CASE("memory given back before a request that had no room is the request's own doing") {
  CHECK(cause_of(thorough_run, 20_MiB, FollowedBy::allocation, on_device(119_MiB)) ==
        RunCause::own_flush);
  CHECK(cause_of(partial_run, 20_MiB, FollowedBy::allocation, on_device(119_MiB)) ==
        RunCause::own_partial);
}

TEST_CASE("a limit leaves no room as a device does") {
  RecordedConditions conditions = on_device(230_MiB);
  conditions.conditions.fraction = 0.5;
  CHECK(cause_of(thorough_run, 20_MiB, FollowedBy::allocation, conditions) == RunCause::own_flush);
  conditions.conditions.fraction.reset();
  CHECK(cause_of(thorough_run, 20_MiB, FollowedBy::allocation, conditions) ==
        RunCause::empty_cache);
  conditions.settings.per_process_memory_fraction = 0.5;
  CHECK(cause_of(thorough_run, 20_MiB, FollowedBy::allocation, conditions) == RunCause::own_flush);
}

TEST_CASE("what a failing request leaves behind is its own doing") {
  CHECK(cause_of(thorough_run, 0_B, FollowedBy::failure, on_device({})) == RunCause::own_flush);
  CHECK(cause_of(partial_run, 0_B, FollowedBy::failure, on_device({})) == RunCause::own_partial);
}

TEST_CASE("a request does not give back what it could have had") {
  ReleaseRun run = thorough_run;
  run.serves_completed = true;
  // A flush completes frees only after the search; a collection finds them completed.
  CHECK(cause_of(run, 0_B, FollowedBy::failure, on_device({})) == RunCause::own_flush);
  run.serves_before = true;
  CHECK(cause_of(run, 0_B, FollowedBy::failure, on_device({})) == RunCause::empty_cache);
  CHECK(cause_of(run, 20_MiB, FollowedBy::allocation, on_device(119_MiB)) == RunCause::empty_cache);

  RecordedConditions conditions = on_device(400_MiB);
  conditions.conditions.fraction = 0.5;
  conditions.settings.garbage_collection_threshold = 0.4;
  run.serves_before = false;
  CHECK(cause_of(run, 20_MiB, FollowedBy::allocation, conditions) == RunCause::empty_cache);
}

TEST_CASE("a free block serves requests of its stream, pool and kind that it has room for") {
  const RecordedRelease release{.size = 20_MiB, .pool = {}, .free_before = {}};
  const AllocatorSettings settings;
  const SoughtBlock sought{.stream = {}, .pool = {}, .rounded = 8_MiB};
  CHECK(would_serve(release, 20_MiB, sought, settings));
  CHECK_FALSE(would_serve(release, 7_MiB, sought, settings));
  SoughtBlock elsewhere = sought;
  elsewhere.stream = StreamId{1u};
  CHECK_FALSE(would_serve(release, 20_MiB, elsewhere, settings));
  elsewhere = sought;
  elsewhere.rounded = 512_KiB;
  CHECK_FALSE(would_serve(release, 20_MiB, elsewhere, settings));
}

TEST_CASE("what a request gave back after it had got some is its own doing") {
  ReleaseRun run = thorough_run;
  run.after_growth = true;
  CHECK(cause_of(run, 40_MiB, FollowedBy::allocation, on_device({})) == RunCause::own_flush);
}

TEST_CASE("garbage collection is due above its share of a limit") {
  RecordedConditions conditions = on_device(400_MiB);
  conditions.conditions.fraction = 0.5;
  conditions.settings.garbage_collection_threshold = 0.6;
  CHECK(cause_of(thorough_run, 20_MiB, FollowedBy::allocation, conditions) ==
        RunCause::empty_cache);
  conditions.settings.garbage_collection_threshold = 0.4;
  CHECK(cause_of(thorough_run, 20_MiB, FollowedBy::allocation, conditions) ==
        RunCause::own_partial);
  conditions.conditions.fraction.reset();
  CHECK(cause_of(thorough_run, 20_MiB, FollowedBy::allocation, conditions) ==
        RunCause::empty_cache);
}

TEST_CASE("a run that left something behind was none of the program's") {
  CHECK(cause_of(partial_run, 20_MiB, FollowedBy::allocation, on_device({})) ==
        RunCause::own_partial);
  CHECK(cause_of(partial_run, 0_B, FollowedBy::free, on_device({})) == RunCause::unexplained);
}

TEST_CASE("memory of one private pool only was emptied by itself") {
  CHECK(cause_of(run_of(PoolId{1u}, false), 0_B, FollowedBy::free, on_device({})) ==
        RunCause::pool_empty);
  ReleaseRun mixed = run_of(PoolId{1u}, true);
  mixed.releases.push_back({.size = 2_MiB, .pool = PoolId{}});
  CHECK(cause_of(mixed, 0_B, FollowedBy::free, on_device({})) == RunCause::empty_cache);
}

TEST_CASE("only a flush and a failing request complete frees after their search") {
  CHECK(completes_before_request(RunCause::none, FollowedBy::allocation));
  CHECK(completes_before_request(RunCause::empty_cache, FollowedBy::allocation));
  CHECK(completes_before_request(RunCause::own_partial, FollowedBy::allocation));
  CHECK_FALSE(completes_before_request(RunCause::own_flush, FollowedBy::allocation));
  CHECK_FALSE(completes_before_request(RunCause::none, FollowedBy::failure));
  CHECK(completes_before_request(RunCause::empty_cache, FollowedBy::failure));
}
