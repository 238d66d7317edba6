#include "replay/report/comparison_json.hpp"

#include <array>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "replay/engine/replay.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/parse_layout.hpp"
#include "tests/support/toy_model.hpp"
#include "tests/support/trace_builder.hpp"

namespace fragcast {
namespace {

using nlohmann::json;

json schema() {
  std::ifstream file{FRAGCAST_SOURCE_DIR "/replay/report/schemas/fragcast.comparison.v1.json"};
  return json::parse(file);
}

std::string text_of(std::span<const Comparison> comparisons) {
  std::ostringstream out;
  write_json(comparisons, out);
  return out.str();
}

/// Parsed; checked against the schema, in which all that we write is to be described.
json json_of(const Comparison& comparison) {
  json document = json::parse(text_of({&comparison, 1}));
  CHECK(violations(schema(), document, UnnamedKeys::refused) == std::vector<std::string>{});
  return document.at("results").at(0);
}

Comparison about(const Subject& subject) {
  Comparison comparison;
  comparison.subject = &subject;
  return comparison;
}

ComparedRun compared(Run run) {
  ComparedRun row;
  row.run = std::move(run);
  return row;
}

RunSpec spec(std::string name, std::string settings = "") {
  RunSpec spec;
  spec.name = std::move(name);
  spec.model = &toy_model();
  spec.settings = std::move(settings);
  return spec;
}

/// 4 MiB of memory; the second request does not fit.
Subject tight_script() {
  TraceBuilder builder;
  builder.trace().conditions.device_memory = 4_MiB;
  const AllocationId a = builder.allocate(3_MiB);
  builder.allocate(1_MiB);
  builder.deallocate(a);
  builder.apply(control::EmptyCache{});
  Subject subject;
  subject.kind = SourceKind::call_script;
  subject.source.file = "tight.txt";
  subject.source.bytes = 70;
  subject.events = 4;
  subject.history.trace = std::move(builder.trace());
  return subject;
}

TEST_CASE("a comparison's JSON has its keys in a fixed order and exact bytes",
          "[comparison_json]") {
  const Subject subject = tight_script();
  Comparison comparison = about(subject);
  comparison.runs.push_back(compared(replay(subject.trace(), spec("as given"))));
  CHECK(text_of({&comparison, 1}) == R"({
 "schema": "fragcast.comparison",
 "version": 1,
 "results": [
  {
   "trace": {
    "file": "tight.txt",
    "format": "calls",
    "source": {
     "layer": "",
     "protocol": 0,
     "wrapping": "",
     "bytes": 70
    },
    "device": 0,
    "model": null,
    "release": null,
    "settings": "",
    "device_memory": 4194304,
    "fraction": null,
    "soc": null,
    "events": 4,
    "allocations": 2,
    "initial": {
     "live_blocks": 0,
     "requested": 0,
     "reserved": 0
    },
    "recorded": null,
    "empty_cache_calls": [
     {
      "at": "request:3",
      "of": "all",
      "released": null
     }
    ],
    "anomalies": {},
    "notes": []
   },
   "fidelity": null,
   "initially_cached": 0,
   "verdict": [],
   "runs": [
    {
     "name": "as given",
     "also": [],
     "model": "toy",
     "release": "1",
     "settings": "",
     "device_memory": 4194304,
     "others": 0,
     "fraction": null,
     "soc": "ascend910b",
     "empty_cache": "keep",
     "start": "empty",
     "addresses": "simulated",
     "outcome": "out_of_memory",
     "reason": "toy out of memory",
     "warnings": [],
     "peak": {
      "requested": 3145728,
      "allocated": 4194304,
      "active": 4194304,
      "reserved": 4194304
     },
     "final": {
      "requested": 0,
      "allocated": 0,
      "active": 0,
      "reserved": 0,
      "inactive_split": 0
     },
     "at_peak_reserved": {
      "event": 0,
      "requested": 3145728,
      "rounding": 1048576,
      "pending": 0,
      "pinned": 0,
      "releasable": 0,
      "largest_free": 0
     },
     "counts": {
      "device_allocs": 1,
      "device_frees": 1,
      "segment_allocs": 1,
      "segment_frees": 1,
      "maps": 0,
      "unmaps": 0,
      "pages_mapped": 0,
      "pages_unmapped": 0,
      "gigabyte_pages_mapped": 0,
      "gigabyte_pages_unmapped": 0,
      "pages_created": 0,
      "pages_destroyed": 0,
      "ranges_reserved": 0,
      "ranges_released": 0,
      "segment_bytes_allocated": 4194304,
      "segment_bytes_freed": 4194304,
      "page_bytes_created": 0,
      "page_bytes_destroyed": 0,
      "bytes_mapped": 0,
      "bytes_unmapped": 0,
      "syncs": 0,
      "event_syncs": 0,
      "events_recorded": 0,
      "event_queries": 0,
      "alloc_retries": 0,
      "ooms": 1,
      "oom_rejections": 0,
      "empty_caches": 1
     },
     "ooms": [
      {
       "event": 1,
       "requested": 1048576,
       "tried": 2097152,
       "free": 0,
       "message": "toy out of memory",
       "failed_in_recording": false
      }
     ],
     "recorded_ooms_served": 0,
     "refused_calls": [],
     "difference": null,
     "pins": [],
     "cost": null,
     "diagnostics": []
    }
   ]
  }
 ]
}
)");
  CHECK(json_of(comparison)["runs"].size() == 1);
}

/// 2 MiB live and 2 MiB cached at the start, one call that emptied the cache.
Subject recording_subject() {
  TraceBuilder builder;
  builder.begin_with(parse_layout("[A0 2M/1M] [. 2M]"));
  builder.allocate(1_MiB);
  builder.apply(control::PoolEmpty{PoolId{1}});
  Trace& trace = builder.trace();
  trace.conditions.settings = "max_split_size_mb:64";
  trace.conditions.soc = "ascend910b";
  for (std::size_t i = 0; i < trace.events.size(); ++i) trace.events[i].source += 5;

  Subject subject;
  subject.source = {
      .file = "run.pickle", .layer = "snapshot", .protocol = 4, .wrapping = "gzip", .bytes = 1000};
  subject.device = 3;
  subject.events = 17;
  Normalised& history = subject.history;
  history.trace = std::move(trace);
  history.conditions.model = "npu-caching";
  history.conditions.evidence = {{.id = "model_inferred", .text = "it looks so"}};
  history.notes = {{.id = "start_unknown", .text = "who knows"}};
  subject.notes = {{.id = "cut", .text = "the file is cut"}};
  history.anomalies.add(Anomaly::free_of_unknown, 2);
  history.recorded.peak_reserved = 8_MiB;
  history.recorded.final_reserved = 6_MiB;
  history.recorded.device_allocs = 2;
  history.recorded.device_frees = 1;
  history.recorded.empty_cache_calls = {
      {.event = 1, .entry = 6, .request = 1, .released = 2_MiB, .releases = 1, .pool = PoolId{1}}};
  return subject;
}

TEST_CASE("what was recorded stands beside the runs", "[comparison_json]") {
  const Subject subject = recording_subject();
  Comparison comparison = about(subject);
  comparison.initially_cached = 2_MiB;
  comparison.verdict = {"All is well."};
  Verification& fidelity = comparison.fidelity.emplace();
  fidelity.segment_events = {.equal = 2, .of = 3};
  fidelity.addresses = {.equal = 1, .of = 1};
  fidelity.unrecorded = 1;
  fidelity.reserved_max_error = 2_MiB;
  fidelity.first = Divergence{.event = 4, .entry = 9, .request = 3, .what = "a", .why = "b"};
  comparison.runs.push_back(compared(replay(subject.trace(), spec("recorded"))));
  const json result = json_of(comparison);

  const json& trace = result["trace"];
  CHECK(trace["format"] == "snapshot");
  CHECK(trace["device"] == 3);
  CHECK(trace["model"] == "npu-caching");
  CHECK(trace["settings"] == "max_split_size_mb:64");
  CHECK(trace["events"] == 17);
  CHECK(trace["allocations"] == 1);
  CHECK(trace["source"]["wrapping"] == "gzip");
  CHECK(trace["initial"] ==
        json{{"live_blocks", 1}, {"requested", 1 << 20}, {"reserved", 4 << 20}});
  CHECK(trace["recorded"] == json{{"peak_reserved", 8 << 20},
                                  {"final_reserved", 6 << 20},
                                  {"device_allocs", 2},
                                  {"device_frees", 1}});
  CHECK(trace["empty_cache_calls"] ==
        json::array({{{"at", "request:1"}, {"of", "pool"}, {"released", 2 << 20}}}));
  CHECK(trace["anomalies"] == json{{"free_of_unknown", 2}});
  CHECK(trace["notes"].size() == 3);
  CHECK(trace["notes"][0] == json{{"id", "model_inferred"}, {"text", "it looks so"}});
  CHECK(trace["notes"][2]["id"] == "cut");
  CHECK(result["fidelity"] ==
        json{{"segment_events", {2, 3}},
             {"unrecorded_segment_events", 1},
             {"addresses", {1, 1}},
             {"failures", {0, 0}},
             {"reserved_max_error", 2 << 20},
             {"refusal", nullptr},
             {"divergence", {{"event", 9}, {"request", 3}, {"what", "a"}, {"why", "b"}}}});
  CHECK(result["verdict"] == json::array({"All is well."}));
  CHECK(result["runs"][0]["start"] == "cold");
}

TEST_CASE("a call before the first request is placed by the event", "[comparison_json]") {
  Subject subject = tight_script();
  subject.history.trace.events = {};
  subject.history.trace.events.push_back({.source = 9, .detail = 0, .kind = EventKind::control});
  Comparison comparison = about(subject);
  CHECK(json_of(comparison)["trace"]["empty_cache_calls"][0]["at"] == "event:9");
}

TEST_CASE("a refused run has a reason and no amounts", "[comparison_json]") {
  const Subject subject = tight_script();
  Comparison comparison = about(subject);
  comparison.runs.push_back(compared(replay(subject.trace(), spec("a", "refused"))));
  const json run = json_of(comparison)["runs"][0];
  CHECK(run["outcome"] == "refused");
  CHECK(run["reason"].is_string());
  CHECK(run["peak"].is_null());
  CHECK(run["final"].is_null());
  CHECK(run["at_peak_reserved"].is_null());
  CHECK(run["counts"].is_null());
  CHECK(run["ooms"] == json::array());
}

TEST_CASE("rows say what they are held against and who pins", "[comparison_json]") {
  Subject subject = tight_script();
  CallStacks& stacks = subject.history.trace.stacks;
  const FrameId frame = stacks.intern(Frame{
      .function = stacks.intern("forward"), .file = stacks.intern("/a/train.py"), .line = 12});
  Comparison comparison = about(subject);
  comparison.runs.push_back(compared(replay(subject.trace(), spec("recorded"))));
  comparison.runs.push_back(comparison.runs.front());
  ComparedRun& row = comparison.runs.back();
  row.run.name = "other";
  row.also = {"same"};
  row.changed.empty_cache = "request:2,request:3";
  row.difference = Difference{.reference = 0, .peak_reserved = -2_MiB};
  row.pins = {{.site = frame, .segments = 2, .held = 1_MiB, .free = 3_MiB},
              {.site = {}, .segments = 1, .held = 1_B, .free = 2_B}};
  row.run.refused_calls = {{.event = EventIndex{2}, .reason = "no such pool"}};
  const json result = json_of(comparison)["runs"][1];
  CHECK(result["also"] == json::array({"same"}));
  CHECK(result["empty_cache"] == "request:2,request:3");
  CHECK(result["difference"] ==
        json{{"reference", 0}, {"reference_name", "recorded"}, {"peak_reserved", -(2 << 20)}});
  CHECK(
      result["pins"][0] ==
      json{{"site", "train.py:12:forward"}, {"segments", 2}, {"held", 1 << 20}, {"free", 3 << 20}});
  CHECK(result["pins"][1]["site"].is_null());
  CHECK(result["refused_calls"] == json::array({{{"event", 2}, {"reason", "no such pool"}}}));
}

TEST_CASE("a row says what its device calls are estimated to take, and that it is a guess",
          "[comparison_json]") {
  const Subject subject = tight_script();
  Comparison comparison = about(subject);
  comparison.pricing = {
      .profile = "ascend910b", .prices = {}, .overridden = 2, .basis = PriceBasis::guess};
  comparison.runs.push_back(compared(replay(subject.trace(), spec("a"))));
  comparison.runs.front().cost = CostEstimate{.low = Microseconds{0.1},
                                              .mid = Microseconds{1.23456},
                                              .high = Microseconds{20},
                                              .waits = 7,
                                              .idle_waits = Microseconds{70}};
  comparison.runs.front().diagnostics = {{.id = "inert", .text = "it does nothing"}};
  const json run = json_of(comparison)["runs"][0];
  CHECK(run["cost"] == json{{"profile", "ascend910b"},
                            {"overridden", 2},
                            {"guess", true},
                            {"low_us", 0.1},
                            {"mid_us", 1.235},
                            {"high_us", 20.0},
                            {"waits", 7},
                            {"idle_waits_us", 70.0}});
  CHECK(run["diagnostics"] == json::array({{{"id", "inert"}, {"text", "it does nothing"}}}));
}

TEST_CASE("events are those of the trace that was replayed", "[comparison_json]") {
  const Subject subject = tight_script();
  Comparison comparison = about(subject);
  const auto changed = std::make_shared<Trace>();
  for (const std::uint32_t source : {1U, 3U, 40U}) {
    changed->events.push_back({.source = source, .kind = EventKind::mark});
  }
  ComparedRun row = compared(replay(subject.trace(), spec("a")));
  row.changed.trace = changed;
  row.run.at_peak_reserved.event = EventIndex{2};
  comparison.runs.push_back(row);
  const json run = json_of(comparison)["runs"][0];
  CHECK(run["at_peak_reserved"]["event"] == 40);
  CHECK(run["ooms"][0]["event"] == 3);
}

TEST_CASE("text that is no UTF-8 does not break the JSON", "[comparison_json]") {
  Subject subject = tight_script();
  subject.source.file = "caf\xe9.pickle";
  Comparison comparison = about(subject);
  CHECK(json_of(comparison)["trace"]["file"] == "caf\ufffd.pickle");
}

TEST_CASE("each device has a result of its own", "[comparison_json]") {
  const Subject first = tight_script();
  Subject second = tight_script();
  second.device = 1;
  const std::array<Comparison, 2> comparisons{about(first), about(second)};
  const json document = json::parse(text_of(comparisons));
  CHECK(document["results"][1]["trace"]["device"] == 1);
  CHECK(violations(schema(), document, UnnamedKeys::refused).empty());
  CHECK(json::parse(text_of({}))["results"] == json::array());
}

}  // namespace
}  // namespace fragcast
