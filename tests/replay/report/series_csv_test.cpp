#include "replay/report/series_csv.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/trace_builder.hpp"

namespace fragcast {
namespace {

std::string csv_of(std::span<const Comparison> comparisons) {
  std::ostringstream out;
  write_series_csv(comparisons, out);
  return out.str();
}

Usage usage(std::int64_t n) {
  return {.requested = Bytes{n},
          .allocated = Bytes{n + 1},
          .active = Bytes{n + 2},
          .reserved = Bytes{n + 3}};
}

ComparedRun run_with(std::string name, std::vector<Usage> series) {
  ComparedRun row;
  row.run.name = std::move(name);
  row.run.events = series.size();
  row.run.series = std::move(series);
  return row;
}

Comparison about(const Subject& subject) {
  Comparison comparison;
  comparison.subject = &subject;
  return comparison;
}

/// Three events.
Subject small_subject() {
  TraceBuilder builder;
  const AllocationId a = builder.allocate(1_MiB);
  builder.record_stream(a, StreamId{1});
  builder.deallocate(a);
  Subject subject;
  subject.history.trace = std::move(builder.trace());
  return subject;
}

TEST_CASE("each run has a row per event", "[series_csv]") {
  const Subject subject = small_subject();
  Comparison comparison = about(subject);
  comparison.runs = {run_with("recorded", {usage(10), usage(20), usage(30)}),
                     run_with("default", {usage(40), usage(50)}),
                     run_with("refused", {})};
  CHECK(csv_of({&comparison, 1}) ==
        "run,event,requested,allocated,active,reserved\n"
        "recorded,0,10,11,12,13\n"
        "recorded,1,20,21,22,23\n"
        "recorded,2,30,31,32,33\n"
        "default,0,40,41,42,43\n"
        "default,1,50,51,52,53\n");
}

TEST_CASE("an entry that became several events has one row, behind them all", "[series_csv]") {
  Subject subject = small_subject();
  Trace& trace = subject.history.trace;
  trace.events[0].source = 7;
  trace.events[1].source = 9;
  trace.events[2].source = 9;
  Comparison comparison = about(subject);
  comparison.runs = {run_with("a", {usage(10), usage(20), usage(30)})};
  CHECK(csv_of({&comparison, 1}) ==
        "run,event,requested,allocated,active,reserved\n"
        "a,7,10,11,12,13\n"
        "a,9,30,31,32,33\n");
}

TEST_CASE("names are quoted where CSV needs it", "[series_csv]") {
  const Subject subject = small_subject();
  Comparison comparison = about(subject);
  comparison.runs = {run_with("a,b", {usage(1)}),
                     run_with("the \"best\"", {usage(1)}),
                     run_with("two\nlines", {usage(1)})};
  CHECK(csv_of({&comparison, 1}) ==
        "run,event,requested,allocated,active,reserved\n"
        "\"a,b\",0,1,2,3,4\n"
        "\"the \"\"best\"\"\",0,1,2,3,4\n"
        "\"two\nlines\",0,1,2,3,4\n");
}

TEST_CASE("runs of several devices are told apart", "[series_csv]") {
  const Subject first = small_subject();
  Subject second = small_subject();
  second.device = 5;
  std::array<Comparison, 2> comparisons{about(first), about(second)};
  comparisons[0].runs = {run_with("a", {usage(1)})};
  comparisons[1].runs = {run_with("a", {usage(2)})};
  CHECK(csv_of(comparisons) ==
        "run,event,requested,allocated,active,reserved\n"
        "0: a,0,1,2,3,4\n"
        "5: a,0,2,3,4,5\n");
}

TEST_CASE("long series are written whole", "[series_csv]") {
  Subject subject;
  TraceBuilder builder;
  std::vector<Usage> series;
  for (std::int64_t i = 0; i < 20'000; ++i) {
    builder.add(EventKind::mark);
    series.push_back(usage(i));
  }
  subject.history.trace = std::move(builder.trace());
  Comparison comparison = about(subject);
  comparison.runs = {run_with("a", std::move(series))};
  const std::string csv = csv_of({&comparison, 1});
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 20'001);
  CHECK(csv.ends_with("\na,19999,19999,20000,20001,20002\n"));
}

}  // namespace
}  // namespace fragcast
