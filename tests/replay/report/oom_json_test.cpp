#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "replay/engine/replay.hpp"
#include "replay/report/oom_report.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/subject_of.hpp"

namespace fragcast {
namespace {

using nlohmann::json;

/// Parsed; checked against the schema, in which all that we write is to be described.
json json_of(const OomReport& report) {
  std::ifstream file{FRAGCAST_SOURCE_DIR "/replay/report/schemas/fragcast.oom.v1.json"};
  std::ostringstream out;
  write_json(report, out);
  json document = json::parse(out.str());
  CHECK(violations(json::parse(file), document, UnnamedKeys::refused) ==
        std::vector<std::string>{});
  return document;
}

OomReport report_of(std::string_view log) {
  std::vector<OomLog> logs;
  logs.push_back(read_oom_log(open_source(log, "train.log")));
  return explain(std::move(logs), {});
}

constexpr std::string_view of_late =
    "2026-12-01 04:00:02 [rank1]: NPU out of memory. Tried to allocate 102.00 MiB (NPU 1; 200.00 "
    "MiB total capacity; 120.00 MiB already allocated; 120.00 MiB current active; 76.00 MiB free; "
    "124.00 MiB reserved in total by PyTorch).\n";
constexpr std::string_view of_early =
    "2026-12-01 04:00:01 [rank0]: CUDA out of memory. Tried to allocate 1.70 GiB. GPU 0 has a "
    "total "
    "capacty of 6.00 GiB of which 0 bytes is free. Process 5 has 17179869184.00 GiB memory in use. "
    "Of the allocated memory 2.93 GiB is allocated by PyTorch, and 2.30 GiB is reserved by PyTorch "
    "but unallocated.\n";

}  // namespace

TEST_CASE("the JSON of messages has them by time, with ranges in bytes", "[oom_json]") {
  const json document = json_of(report_of(std::string{of_late} + std::string{of_early}));
  CHECK(document["schema"] == "fragcast.oom");
  CHECK(document["version"] == 1);
  CHECK(document["order"] == "time");
  CHECK(document["logs"][0]["lines"] == 2);
  REQUIRE(document["messages"].size() == 2);
  const json& first = document["messages"][0];
  CHECK(first["writer"] == "rank 0");
  CHECK(first["line"] == 2);
  CHECK(first["first"] == true);
  CHECK(first["figures"]["free"]["range"]["most"] == 0);
  CHECK(first["figures"]["other_processes"]["impossible"] == true);
  CHECK(first["figures"]["other_processes"]["range"] == nullptr);
  CHECK(first["verdicts"][0]["kind"] == "fragmentation");
  CHECK(first["bounds"]["pending"] == nullptr);
  CHECK(document["messages"][1]["first"] == false);
  CHECK(document["messages"][1]["trace"] == nullptr);
}

TEST_CASE("the JSON of messages says how a trace takes them", "[oom_json]") {
  const Subject subject =
      subject_of("device_memory 200MiB\nmalloc a 60MiB 0\nmalloc b 60MiB 0\nmalloc c 90MiB 0\n");
  RunSpec spec;
  spec.model = find_model("npu-caching");
  OomReport report = report_of(of_late);
  report.trace = "test.calls, device 0";
  report.messages[0].trace =
      check_against(report.messages[0].found.message, subject, replay(subject.trace(), spec));
  const json trace = json_of(report)["messages"][0]["trace"];
  CHECK(trace["agrees"] == false);
  CHECK(trace["closest"]["place"] == "event:2");
  CHECK(trace["closest"]["differences"][0]["figure"] == "tried");
  CHECK(trace["closest"]["differences"][0]["replay"]["least"] == 96'463'750);
}

TEST_CASE("the JSON of a log without a message has none", "[oom_json]") {
  const json document = json_of(report_of("nothing\n"));
  CHECK(document["messages"].empty());
  CHECK(document["order"] == "place");
}

}  // namespace fragcast
