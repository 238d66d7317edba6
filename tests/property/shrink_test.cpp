#include <algorithm>

#include "tests/support/catch.hpp"
#include "tests/support/random_trace.hpp"

namespace fragcast {
namespace {

const TraceShape everything{.calls = 400,
                            .streams = 3,
                            .stream_uses = true,
                            .empty_caches = true,
                            .pools = true,
                            .captures = true,
                            .settings_changes = {}};

template <class Call>
bool has(const Trace& trace) {
  return std::any_of(trace.events.begin(), trace.events.end(), [&](const Event& event) {
    return event.kind == EventKind::control &&
           std::holds_alternative<Call>(trace.controls[event.detail]);
  });
}

bool has_large_request(const Trace& trace) {
  return std::any_of(trace.events.begin(), trace.events.end(), [](const Event& event) {
    return event.kind == EventKind::allocate && event.size >= 32_MiB;
  });
}

}  // namespace

TEST_CASE("the same seed gives the same trace, another one another", "[shrink]") {
  const auto script = [](std::uint64_t seed) {
    return script_of(random_trace(everything, choose_by_seed(seed)));
  };
  CHECK(script(1) == script(1));
  CHECK(script(1) != script(2));
}

TEST_CASE("bytes that are used up choose 0", "[shrink]") {
  const std::vector<std::uint8_t> bytes{7, 1, 2};
  const Choose choose = choose_by_bytes(bytes);
  CHECK(choose(1) == 0);
  CHECK(choose(5) == 2);
  CHECK(choose(1000) == 258);
  CHECK(choose(1000) == 0);
}

TEST_CASE("a shrunk trace holds only what makes it fail", "[shrink]") {
  const Trace trace = random_trace(everything, choose_by_seed(3));
  REQUIRE(has_large_request(trace));
  const Trace smallest = shrink(trace, has_large_request);
  REQUIRE(std::count_if(smallest.events.begin(), smallest.events.end(), [](const Event& event) {
            return event.kind == EventKind::allocate;
          }) == 1);
  for (const Event& event : smallest.events) CHECK(event.allocation == AllocationId{0U});
}

TEST_CASE("captures and pools are left out as a whole", "[shrink]") {
  const Trace trace = random_trace(everything, choose_by_seed(4));
  REQUIRE(has<control::CaptureEnd>(trace));
  const Trace smallest = shrink(trace, [](const Trace& t) { return has<control::CaptureEnd>(t); });
  CHECK(script_of(smallest) == "capture_begin\ncapture_end\n");

  const Trace pools = shrink(trace, [](const Trace& t) { return has<control::PoolEnd>(t); });
  CHECK(has<control::PoolBegin>(pools));
  CHECK_FALSE(has<control::CaptureBegin>(pools));
}

}  // namespace fragcast
