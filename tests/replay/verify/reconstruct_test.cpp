#include "replay/verify/reconstruct.hpp"

#include <algorithm>
#include <string>

#include "replay/verify/verify.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/record.hpp"

using namespace fragcast;

namespace {

struct Readings {
  Normalised by_entries;
  Normalised by_replay;
};

Readings read(const std::string& script, const StatedConditions& stated) {
  const Recording recording = record_script(script);
  const RecordedDevice& device = recording.devices.front();
  return {.by_entries = normalise(recording, device, stated),
          .by_replay = reconstruct(recording, device, stated)};
}

bool reproduced(const Normalised& history) {
  return verify(history, *find_model("npu-caching")).perfect();
}

bool has_note(const Normalised& history, const std::string& id) {
  return std::any_of(
      history.notes.begin(), history.notes.end(), [&](const Note& note) { return note.id == id; });
}

}  // namespace

TEST_CASE("an empty_cache call that looks like a collection of garbage shows by the ages") {
  // Garbage is due when h asks; but a collection would have spared b, which was freed last.
  const std::string settings =
      "max_split_size_mb:20,garbage_collection_threshold:0.5,per_process_memory_fraction:0.8";
  const auto [by_entries, by_replay] = read("conf " + settings + R"(
    device_memory 500MiB
    events deferred
    malloc a 64MiB 1
    malloc b 20971502 0
    malloc c 1973 0
    malloc d 5286224 0
    record_stream d 0
    malloc e 64MiB 0
    malloc f 64MiB 0
    free a
    free c
    free f
    free e
    free d
    malloc g 232567 0
    malloc i 1048587 0
    free b
    empty_cache
    malloc h 33554441 0)",
                                            {.settings = settings, .device_memory = 500_MiB});
  CHECK_FALSE(reproduced(by_entries));
  CHECK(by_entries.recorded.empty_cache_calls.empty());
  CHECK(reproduced(by_replay));
  REQUIRE(by_replay.recorded.empty_cache_calls.size() == 1);
  CHECK(by_replay.recorded.empty_cache_calls.front().releases == 4);
  CHECK(has_note(by_replay, "releases_by_replay"));
}

TEST_CASE("under lazy reclaim an empty_cache call shows by the frees it completes") {
  // Nothing is given back. But f would have gone behind d, had b not been complete.
  const std::string settings = "multi_stream_lazy_reclaim:True";
  const auto [by_entries, by_replay] = read("conf " + settings + R"(
    events deferred
    malloc a 5388227 0
    malloc b 5388227 0
    malloc c 5388227 0
    malloc d 5388227 0
    record_stream b 3
    free a
    free b
    malloc e 3559 3
    empty_cache
    malloc f 5393788 0)",
                                            {.settings = settings});
  CHECK_FALSE(reproduced(by_entries));
  CHECK(reproduced(by_replay));
  REQUIRE(by_replay.recorded.empty_cache_calls.size() == 1);
  CHECK(by_replay.recorded.empty_cache_calls.front().releases == 0);
}

TEST_CASE("a free that a flush completed at once shows by the garbage it would have been") {
  // b and a wait for events. The flush for d completes a first, so it seems free from the start on;
  // but then a collection had taken it, and no flush was needed.
  const std::string settings = "garbage_collection_threshold:0.6,per_process_memory_fraction:0.9";
  const auto [by_entries, by_replay] = read("conf " + settings + R"(
    device_memory 100MiB
    events deferred
    malloc a 22MiB 2
    malloc b 20971507 0
    malloc c 30MiB 0
    record_stream a 3
    record_stream b 1
    free b
    free a
    malloc d 22MiB 1)",
                                            {.settings = settings, .device_memory = 100_MiB});
  CHECK_FALSE(reproduced(by_entries));
  CHECK(reproduced(by_replay));
}

TEST_CASE("completions of a flush that gave nothing back come after the search") {
  // For d the oversize b is given back, which is not enough; then a flush completes a, which would
  // have served d.
  const std::string settings = "max_split_size_mb:20";
  const auto [by_entries, by_replay] = read("conf " + settings + R"(
    device_memory 132MiB
    events deferred
    pool_create 1
    pool_begin 1
    malloc a 33554434 0
    malloc b 25066908 0
    malloc c 60MiB 1
    record_stream a 1
    free b
    free a
    malloc d 33554428 0)",
                                            {.settings = settings, .device_memory = 132_MiB});
  CHECK_FALSE(reproduced(by_entries));
  CHECK(reproduced(by_replay));
}

TEST_CASE("an empty_cache call and what the request behind it took back are told apart") {
  // The pool is in use, as k shows: a call leaves it alone.
  const std::string settings = "max_split_size_mb:20";
  const auto [by_entries, by_replay] = read("conf " + settings + R"(
    device_memory 76MiB
    malloc x 1000 0
    free x
    pool_create 1
    pool_begin 1
    malloc a 7881285 1
    free a
    malloc b 30MiB 0
    malloc k 15MiB 0
    free k
    empty_cache
    malloc c 1664219 1)",
                                            {.settings = settings, .device_memory = 76_MiB});
  CHECK_FALSE(reproduced(by_entries));
  CHECK(reproduced(by_replay));
  REQUIRE(by_replay.recorded.empty_cache_calls.size() == 1);
  CHECK(by_replay.recorded.empty_cache_calls.front().released == 2_MiB);
}

TEST_CASE("what entries tell well enough is left as they tell it") {
  const auto [by_entries, by_replay] = read(R"(
    malloc a 60MiB 0
    free a
    empty_cache
    malloc b 5MiB 0)",
                                            {});
  CHECK(reproduced(by_replay));
  CHECK_FALSE(has_note(by_replay, "releases_by_replay"));
  CHECK(by_replay.trace.events.size() == by_entries.trace.events.size());
}
