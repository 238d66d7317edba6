#include "replay/explain/oom_trace.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "replay/engine/replay.hpp"
#include "replay/formats/oom_text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/subject_of.hpp"

namespace fragcast {
namespace {

/// 100 MiB do not fit beside 2 × 62 MiB; nor do they the second time.
constexpr std::string_view script =
    "device_memory 200MiB\n"
    "malloc a 60MiB 0\n"
    "malloc b 60MiB 0\n"
    "malloc c 100MiB 0\n"
    "malloc d 110MiB 0\n"
    "malloc e 110MiB 0\n";

OomTraceCheck check_script(std::string_view message_text, std::string_view calls = script) {
  const Subject subject = subject_of(calls);
  RunSpec spec;
  spec.model = find_model("npu-caching");
  const auto message = parse_oom(message_text);
  REQUIRE(message.has_value());
  return check_against(*message, subject, replay(subject.trace(), spec));
}

constexpr std::string_view of_c =
    "NPU out of memory. Tried to allocate 102.00 MiB (NPU 5; 200.00 MiB total capacity; 120.00 MiB "
    "already allocated; 120.00 MiB current active; 76.00 MiB free; 124.00 MiB reserved in total by "
    "PyTorch).";

}  // namespace

TEST_CASE("a message agrees with the request that fails like it", "[oom_trace]") {
  const OomTraceCheck check = check_script(of_c);
  REQUIRE(check.agreeing.size() == 1);
  CHECK(check.agreeing[0].place == "event:2");
  CHECK(check.failures == 3);
  CHECK(check.compared == 6);
  CHECK(check.verdict ==
        std::vector<std::string>{"The message agrees with event:2 in all 6 figures compared."});
}

TEST_CASE("a message that fits several requests is ambiguous", "[oom_trace]") {
  std::string text{of_c};
  text.replace(text.find("102.00"), 6, "112.00");
  const OomTraceCheck check = check_script(text);
  CHECK(check.agreeing.size() == 2);
  CHECK(check.verdict[0] ==
        "The message agrees with 2 requests that fail, from event:3 to event:4: it does not tell "
        "which of them it is about.");
}

TEST_CASE("where a message does not agree is said by figure", "[oom_trace]") {
  std::string text{of_c};
  text.replace(text.find("76.00"), 5, "16.00");
  const OomTraceCheck check = check_script(text);
  CHECK_FALSE(check.agrees());
  REQUIRE(check.closest.has_value());
  CHECK(check.closest->place == "event:2");
  REQUIRE(check.closest->differences.size() == 1);
  CHECK(check.closest->differences[0].figure == OomFigure::free);
  CHECK(check.verdict[0].find("free on the device is 16.00 MiB") != std::string::npos);
}

TEST_CASE("a message agrees with no trace in which nothing fails", "[oom_trace]") {
  const OomTraceCheck check = check_script(of_c, "malloc a 60MiB 0\n");
  CHECK_FALSE(check.agrees());
  CHECK_FALSE(check.closest.has_value());
  CHECK(check.failures == 0);
}

}  // namespace fragcast
