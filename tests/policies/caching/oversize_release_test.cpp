#include <sstream>
#include <string>

#include "replay/formats/call_script.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/properties.hpp"

namespace fragcast {
namespace {

/// Replays a script on the NPU model; true if every allocation was served.
bool is_served(const std::string& script) {
  std::istringstream input{script};
  const Trace trace = read_call_script(input, "case");
  bool all = true;
  const std::string wrong =
      replay_looking(trace,
                     *find_model("npu-caching"),
                     [&](Session&, const Event&, const EventResult& result) -> std::string {
                       all = all && result.kind != EventResult::Kind::out_of_memory;
                       return {};
                     });
  CHECK(wrong.empty());
  return all;
}

}  // namespace

TEST_CASE("oversize release passes over blocks of an expandable range", "[npu-caching]") {
  // The larger block, in the range, cannot be released; the segment of 60 MiB can.
  CHECK(
      is_served("conf expandable_segments:True\n"
                "device_memory 180MiB\n"
                "malloc a 70MiB 0\n"
                "settings max_split_size_mb:32\n"
                "settings expandable_segments:False,max_split_size_mb:32\n"
                "malloc b 60MiB 0\n"
                "free a\n"
                "free b\n"
                "malloc c 90MiB 0\n"));
}

TEST_CASE("oversize release passes over blocks that were split before the limit fell",
          "[npu-caching]") {
  CHECK(
      is_served("device_memory 200MiB\n"
                "malloc whole 100MiB 0\n"
                "free whole\n"
                "malloc piece 30MiB 0\n"
                "malloc other 80MiB 0\n"
                "free other\n"
                "settings max_split_size_mb:20\n"
                "malloc large 90MiB 0\n"));
}

}  // namespace fragcast
