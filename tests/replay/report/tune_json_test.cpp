#include "replay/report/tune_json.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/stepped.hpp"

namespace fragcast {
namespace {

using nlohmann::json;

/// Parsed; checked against the schema, in which all that we write is to be described.
json json_of(const Tuning& tuning) {
  std::ifstream file{FRAGCAST_SOURCE_DIR "/replay/report/schemas/fragcast.tuning.v1.json"};
  std::ostringstream out;
  write_json(tuning, out);
  json document = json::parse(out.str());
  CHECK(violations(json::parse(file), document, UnnamedKeys::refused) ==
        std::vector<std::string>{});
  return document;
}

}  // namespace

TEST_CASE("a search's JSON has the recommendation as a line and in exact bytes", "[tune_json]") {
  const Subject subject = subject_of(
      stepped("device_memory 1000MiB\nmalloc a 100MiB 0\nfree a\nmalloc a 190MiB 0\nfree a\n"),
      "grows.calls");
  TuneOptions options;
  options.run.settings = {{.name = "odd", .text = "max_split_size_mb:5"}};
  const json document = json_of(tune({&subject, 1}, options));
  CHECK(document["schema"] == "fragcast.tuning");
  CHECK(document["version"] == 1);
  CHECK(document["variable"] == "PYTORCH_NPU_ALLOC_CONF");
  CHECK(document["traces"][0]["file"] == "grows.calls");
  CHECK(document["traces"][0]["capacity"] == 1'048'576'000);
  CHECK(document["traces"][0]["live_peak"] == 199'229'440);
  CHECK(document["recorded"] == nullptr);
  CHECK(document["now"]["runs"][0]["peak_reserved"] == 308'281'344);
  CHECK(document["recommendation"]["line"] ==
        "export PYTORCH_NPU_ALLOC_CONF=expandable_segments:True,large_segment_size_mb:192");
  CHECK(document["recommendation"]["point"]["runs"][0]["peak_reserved"] == 201'326'592);
  CHECK(document["recommendation"]["robustness"].size() == 3);
  CHECK(document["advised"][0]["against_now"] == nullptr);
  CHECK(document["advised"][0]["users_own"] == true);
  CHECK(document["advised"][1]["against_now"] == "better");
}

TEST_CASE("a search's JSON says where nothing helps", "[tune_json]") {
  const Subject subject = subject_of(stepped("device_memory 90MiB\nmalloc a 100MiB 0\n"));
  const json document = json_of(tune({&subject, 1}, {}));
  CHECK(document["recommendation"] == nullptr);
  CHECK(document["now"]["failures"] == 1);
  CHECK(document["verdict"][0] == "No setting tried is better than now: keep no settings.");
}

}  // namespace fragcast
