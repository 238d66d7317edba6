#include "replay/report/answers.hpp"

#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/toy_model.hpp"
#include "tests/support/trace_builder.hpp"

namespace fragcast {
namespace {

RunConditions conditions_of(const Trace& trace) {
  RunSpec spec;
  spec.model = &toy_model();
  return resolve_conditions(trace, spec);
}

/// All lines that a trace is answered with.
std::vector<std::string> answers_to(const Trace& trace) {
  Session session{trace, conditions_of(trace)};
  Answers answers{session};
  std::vector<std::string> lines{std::string{answers.conditions()}};
  if (!session.refusal().empty()) return lines;
  while (!session.at_end()) {
    const Event& event = session.next();
    const EventResult result = session.step();
    if (Answers::is_call(event)) lines.emplace_back(answers.call(event, result));
  }
  lines.emplace_back(answers.end());
  return lines;
}

TEST_CASE("the first answer tells the conditions", "[answers]") {
  Trace trace;
  trace.conditions = {.settings = "a:\"b\"",
                      .device_memory = 1_GiB,
                      .fraction = 0.3333,
                      .soc = "ascend950",
                      .instant_events = false};
  CHECK(answers_to(trace).front() ==
        R"({"op":-1,"ok":true,"conf":"a:\"b\"","device_memory":1073741824,"fraction":0.3333,)"
        R"("events":"deferred","soc":260})");
}

TEST_CASE("refused settings are answered with the reason and nothing else", "[answers]") {
  Trace trace;
  trace.conditions.settings = "refused";
  const std::vector<std::string> lines = answers_to(trace);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].starts_with(R"({"op":-1,"ok":false,"error":"a toy refuses these settings",)"));
}

TEST_CASE("an allocation is answered with its place and the counters", "[answers]") {
  TraceBuilder builder;
  builder.allocate(3_MiB);
  CHECK(answers_to(builder.trace())[1] ==
        R"({"op":0,"kind":"malloc","ok":true,"addr":17592186044416,"block_size":4194304,)"
        R"("allocated":[4194304,4194304],"reserved":[4194304,4194304],)"
        R"("active":[4194304,4194304],"requested":[3145728,3145728],"inactive_split":[0,0],)"
        R"("num_alloc_retries":0,"num_ooms":0})");
}

TEST_CASE("a failed allocation is answered with its message and its free is skipped", "[answers]") {
  TraceBuilder builder;
  builder.trace().conditions.device_memory = 2_MiB;
  const AllocationId a = builder.allocate(3_MiB);
  builder.deallocate(a);
  const std::vector<std::string> lines = answers_to(builder.trace());
  CHECK(lines[1].starts_with(
      R"({"op":0,"kind":"malloc","ok":false,"error":"OOM: toy out of memory","allocated":[0,0],)"));
  CHECK(lines[1].ends_with(R"("num_ooms":1})"));
  CHECK(lines[2].starts_with(R"({"op":1,"kind":"free","ok":false,"skipped":true,"allocated":)"));
}

TEST_CASE("a refused call is answered with the reason", "[answers]") {
  TraceBuilder builder;
  builder.apply(control::EmptyVirtualAddressCache{});
  CHECK(answers_to(builder.trace())[1].starts_with(
      R"({"op":0,"kind":"empty_virt_addr_cache","ok":false,)"
      R"("error":"there are no addresses to cache","allocated":)"));
}

TEST_CASE("each call is answered under the name that scripts have for it", "[answers]") {
  TraceBuilder builder;
  const AllocationId a = builder.allocate(2_MiB);
  builder.record_stream(a, StreamId{1});
  builder.complete_events(StreamId{1});
  builder.add(EventKind::complete_all);
  builder.add(EventKind::cache_info);
  builder.apply(control::Synchronize{});
  builder.apply(control::PoolUseOnOom{.pool = PoolId{1}});
  builder.apply(control::ChangeSettings{.text = "x"});
  const std::vector<std::string> kinds{"malloc",
                                       "record_stream",
                                       "complete_events",
                                       "complete_events",
                                       "cache_info",
                                       "sync",
                                       "pool_use_on_oom",
                                       "settings",
                                       "end"};
  const std::vector<std::string> lines = answers_to(builder.trace());
  REQUIRE(lines.size() == kinds.size() + 1);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    CHECK(lines[i + 1].find("\"kind\":\"" + kinds[i] + "\"") != std::string::npos);
  }
  CHECK(lines[5].starts_with(R"({"op":4,"kind":"cache_info","ok":true,"cached":0,"largest":0,)"));
}

TEST_CASE("marks and steps have no answer and no number", "[answers]") {
  TraceBuilder builder;
  builder.add(EventKind::mark);
  builder.allocate(2_MiB);
  builder.add(EventKind::step);
  builder.add(EventKind::snapshot);
  const std::vector<std::string> lines = answers_to(builder.trace());
  REQUIRE(lines.size() == 4);
  CHECK(lines[1].starts_with(R"({"op":0,"kind":"malloc")"));
  CHECK(lines[2].starts_with(R"({"op":1,"kind":"snapshot")"));
  CHECK(lines[3].starts_with(R"({"op":2,"kind":"end")"));
}

TEST_CASE("a snapshot is answered with statistics, device, segments and history", "[answers]") {
  TraceBuilder builder;
  builder.allocate(3_MiB);
  builder.add(EventKind::snapshot);
  const std::string line = answers_to(builder.trace())[2];
  const auto has = [&](const std::string& text) { return line.find(text) != std::string::npos; };
  CHECK(has(R"("stats":{"order":"[all,small,large] x [current,peak,allocated,freed]",)"
            R"("allocation":[[1,1,1,0],[0,0,0,0],[1,1,1,0]],)"));
  CHECK(has(R"("num_oom_rejections":0,"max_split_size":-1},)"));
  CHECK(has(R"("device":{"total":68719476736,"used":4194304,"malloc":1,"free":0,)"));
  CHECK(has(R"("segments":[{"address":17592186044416,"total_size":4194304,"stream":0,)"
            R"("segment_type":"large","is_expandable":false,"pool":0,"allocated_size":4194304,)"
            R"("active_size":4194304,"requested_size":3145728,)"
            R"("blocks":[[17592186044416,4194304,3145728,"active_allocated"]]}],)"));
  CHECK(has(R"("trace_from":0,"trace":[["segment_alloc",17592186044416,4194304,0,0],)"
            R"(["alloc",17592186044416,3145728,0,0]]})"));
}

TEST_CASE("a history begins with the snapshot before it", "[answers]") {
  TraceBuilder builder;
  const AllocationId a = builder.allocate(3_MiB);
  builder.add(EventKind::snapshot);
  builder.deallocate(a);
  const std::string end = answers_to(builder.trace()).back();
  CHECK(end.ends_with(R"("segments":[],"trace_from":2,"trace":[["snapshot",0,4194304,-1,0],)"
                      R"(["free_requested",17592186044416,3145728,0,0],)"
                      R"(["free_completed",17592186044416,3145728,0,0],)"
                      R"(["segment_free",17592186044416,4194304,0,0]]})"));
}

TEST_CASE("pending blocks are active and held-back blocks are not", "[answers]") {
  TraceBuilder builder;
  builder.trace().conditions.instant_events = false;
  const AllocationId a = builder.allocate(2_MiB);
  builder.record_stream(a, StreamId{1});
  builder.deallocate(a);
  const std::string end = answers_to(builder.trace()).back();
  CHECK(end.find(R"("allocated_size":0,"active_size":2097152,"requested_size":2097152,)"
                 R"("blocks":[[17592186044416,2097152,2097152,"active_pending_free"]])") !=
        std::string::npos);
}

TEST_CASE("a long history can be told by its length", "[answers]") {
  TraceBuilder builder;
  builder.allocate(2_MiB);
  builder.add(EventKind::snapshot);
  Session session{builder.trace(), conditions_of(builder.trace())};
  Answers answers{session};
  while (!session.at_end()) {
    const Event& event = session.next();
    session.step();
    answers.pass_over(event);
  }
  CHECK(answers.next_op() == 2);
  CHECK(answers.end(Answers::History::length).ends_with(R"(}],"trace_len":3})"));
}

TEST_CASE("strings are escaped as JSON wants it", "[answers]") {
  JsonText text;
  text.string("a\"\\\n\r\t\x01z");
  CHECK(text.view() == R"("a\"\\\n\r\t\u0001z")");
}

}  // namespace
}  // namespace fragcast
