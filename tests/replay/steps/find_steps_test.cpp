#include "replay/steps/find_steps.hpp"

#include <array>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "replay/formats/call_script.hpp"
#include "replay/trace/normalise.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_trace.hpp"
#include "tests/support/record.hpp"
#include "tests/support/stepped.hpp"
#include "tests/support/trace_builder.hpp"

namespace fragcast {
namespace {

using Places = std::vector<std::size_t>;

Trace unstepped(const std::string& script) {
  std::istringstream input{script};
  return read_call_script(input, "script");
}

Steps wished(const Trace& trace, const StepWish& wish) {
  return find_steps(trace, trace.stacks, {}, wish);
}

/// Lines of a script that allocate 1 KiB each, at these call sites.
std::string at_sites(const std::vector<std::string>& sites) {
  std::string script;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    script += "malloc a" + std::to_string(i) + " 1KiB 0";
    script += sites[i].empty() ? "\n" : " @" + sites[i] + "\n";
  }
  return script;
}

/// The numbers of the requests that steps begin with, or stand right before.
Places requests_at(const Trace& trace) {
  Places requests;
  std::size_t request = 1;
  auto begin = trace.steps.begins.begin();
  for (std::size_t i = 0; i < trace.events.size() && begin != trace.steps.begins.end(); ++i) {
    if (*begin == i) {
      requests.push_back(request);
      ++begin;
    }
    const EventKind kind = trace.events[i].kind;
    if (kind == EventKind::allocate || kind == EventKind::deallocate) ++request;
  }
  return requests;
}

}  // namespace

TEST_CASE("a script's step lines begin its steps", "[steps]") {
  const Trace trace = stepped(
      "malloc w 1MiB 0\n"
      "step\n"
      "malloc a 1MiB 0\n"
      "free a\n"
      "step\n"
      "malloc b 1MiB 0\n");
  CHECK(trace.steps.source == StepSource::script);
  CHECK(trace.steps.marked_by == "step lines");
  CHECK(trace.steps.begins == Places{1, 4});
  CHECK(trace.steps.begin_of(2) == 4);
  CHECK(trace.steps.end_of(1, 6) == 4);
  CHECK(trace.steps.end_of(2, 6) == 6);
}

namespace {

/// Entry 0 is the segment; six allocations follow, the n-th event at 10 (n + 2) microseconds.
struct Annotated {
  explicit Annotated(std::vector<RecordedAnnotation> annotations)
      : recording{record_script("malloc a 1KiB 0\nmalloc b 1KiB 0\nmalloc c 1KiB 0\n"
                                "malloc d 1KiB 0\nmalloc e 1KiB 0\nmalloc f 1KiB 0\n")} {
    RecordedDevice& device = recording.devices.front();
    for (std::size_t i = 0; i < device.entries.size(); ++i) {
      device.times_us.push_back(static_cast<std::int64_t>(10 * (i + 1)));
    }
    recording.annotations = std::move(annotations);
    trace = normalise(recording, device, {}).trace;
    REQUIRE(trace.events.size() == 6);
    REQUIRE(trace.events[0].source == 1);
    steps = find_steps(trace,
                       recording.stacks,
                       annotated_moments(recording, device, trace),
                       step_wish::Automatic{});
  }
  Recording recording;
  Trace trace;
  Steps steps;
};

RecordedAnnotation begin_at(std::int64_t time, std::string name, int device = 0) {
  return {.name = std::move(name), .start = true, .device = device, .time_us = time};
}
RecordedAnnotation end_at(std::int64_t time, std::string name) {
  return {.name = std::move(name), .start = false, .device = 0, .time_us = time};
}

}  // namespace

TEST_CASE("a profiler's step begins where its annotation does", "[steps]") {
  const Annotated annotated{{begin_at(50, "ProfilerStep#8"),  // out of order
                             begin_at(25, "ProfilerStep#7"),
                             end_at(45, "ProfilerStep#7"),
                             begin_at(62, "ProfilerStep#9", 1),  // another device's
                             end_at(65, "Optimizer.step#Adam.step")}};
  CHECK(annotated.steps.source == StepSource::annotations);
  CHECK(annotated.steps.marked_by == "annotations ProfilerStep#…");
  CHECK(annotated.steps.begins == Places{1, 3});
}

TEST_CASE("an optimizer's step ends one", "[steps]") {
  const Annotated annotated{{begin_at(31, "Optimizer.step#SGD.step"),
                             end_at(35, "Optimizer.step#SGD.step"),
                             begin_at(55, "Optimizer.step#SGD.step"),
                             end_at(61, "Optimizer.step#SGD.step"),
                             end_at(99, "Optimizer.step#SGD.step")}};
  CHECK(annotated.steps.source == StepSource::annotations);
  CHECK(annotated.steps.marked_by == "the ends of annotations Optimizer.step#…");
  CHECK(annotated.steps.begins == Places{0, 2, 5});
}

TEST_CASE("an optimizer's step that ends with the trace, alone, tells no steps", "[steps]") {
  CHECK(Annotated{{end_at(99, "Optimizer.step#SGD.step")}}.steps.empty());
}

TEST_CASE("annotations without times of the entries place nothing", "[steps]") {
  Annotated annotated{{begin_at(25, "ProfilerStep#7")}};
  RecordedDevice& device = annotated.recording.devices.front();
  CHECK(annotated_moments(annotated.recording, device, annotated.trace).size() == 1);
  device.times_us = {};
  CHECK(annotated_moments(annotated.recording, device, annotated.trace).empty());
}

TEST_CASE("a step begins where the lines of the function that the loop calls start over",
          "[steps]") {
  const std::string head = "file.py:12:f;file.py:24:train";
  const std::string tail = "file.py:18:f;file.py:24:train";
  const Trace trace = stepped(at_sites({"file.py:5:build;file.py:20:train",
                                        "file.py:6:build;file.py:20:train",
                                        "",
                                        head,
                                        head,
                                        "",
                                        tail,
                                        "",
                                        head,
                                        tail,
                                        head,
                                        tail}));
  CHECK(trace.steps.source == StepSource::call_stacks);
  CHECK(trace.steps.marked_by == "file.py:12:f, where the lines of its function start over");
  CHECK(trace.steps.begins == Places{3, 8, 10});
}

TEST_CASE("steps are found below frames of libraries, and by the outermost function", "[steps]") {
  const auto layer = [](int line, int at) {
    return "/usr/lib/python3/dist-packages/torch/nn/linear.py:9:forward;model.py:" +
           std::to_string(line) + ":layer;train.py:" + std::to_string(at) +
           ":step;/opt/site-packages/runner.py:" + std::to_string(90 - at) + ":run";
  };
  std::vector<std::string> sites;
  for (int step = 0; step < 3; ++step) {
    for (const int line : {3, 5, 3, 5, 3, 5}) sites.push_back(layer(line, 12));
    sites.push_back(layer(3, 18));
  }
  const Trace trace = stepped(at_sites(sites));
  CHECK(trace.steps.marked_by == "train.py:12:step, where the lines of its function start over");
  CHECK(trace.steps.begins == Places{0, 7, 14});
}

TEST_CASE("an inner loop of the only step is not taken for steps", "[steps]") {
  std::vector<std::string> sites;
  for (int layer = 0; layer < 6; ++layer) {
    sites.emplace_back("model.py:3:layer;train.py:13:step;train.py:24:main");
    sites.emplace_back("model.py:5:layer;train.py:13:step;train.py:24:main");
  }
  const std::vector<std::string> layers = sites;
  // The layers alone would be steps; what follows them makes the last part six times as long.
  CHECK(stepped(at_sites(layers)).steps.count() == 6);
  for (int i = 0; i < 11; ++i) sites.emplace_back("train.py:18:step;train.py:24:main");
  CHECK(stepped(at_sites(sites)).steps.empty());
}

namespace {

/// Its trace, in which no allocation has a call stack.
Trace without_stacks(TraceBuilder& builder) {
  Trace& trace = builder.trace();
  trace.allocations.resize(trace.events.size());
  return std::move(trace);
}

/// Sizes of 16 different classes, in an order that repeats nothing.
constexpr std::array<int, 16> one_step{
    10, 20, 12, 24, 11, 19, 13, 22, 15, 21, 14, 23, 16, 18, 17, 9};

/// `steps` steps; lengths vary within a class of sizes.
Trace periodic(std::size_t before, std::size_t steps, std::size_t behind) {
  TraceBuilder builder;
  for (std::size_t i = 0; i < before; ++i) builder.allocate(Bytes{64});
  for (std::size_t step = 0; step < steps; ++step) {
    for (const int bits : one_step) {
      const Bytes size{(std::int64_t{1} << bits) + static_cast<std::int64_t>(step)};
      builder.deallocate(builder.allocate(size));
    }
  }
  for (std::size_t i = 0; i < behind; ++i) {
    builder.allocate(Bytes{std::int64_t{1} << one_step[i % one_step.size()]});
  }
  return without_stacks(builder);
}

}  // namespace

TEST_CASE("without stacks, steps are where requests begin to repeat", "[steps]") {
  const Trace trace = periodic(10, 4, 0);
  const Steps steps = wished(trace, step_wish::Automatic{});
  CHECK(steps.source == StepSource::period);
  CHECK(steps.marked_by == "requests that repeat");
  CHECK(steps.begins == Places{10, 42, 74, 106});
}

TEST_CASE("the first of the steps that repeat is found, with nothing before it", "[steps]") {
  for (const std::size_t count : {2U, 3U, 4U, 9U}) {
    INFO(count);
    const Trace trace = periodic(0, count, 0);
    Places expected;
    for (std::size_t i = 0; i < count; ++i) expected.push_back(32 * i);
    CHECK(wished(trace, step_wish::Automatic{}).begins == expected);
  }
}

TEST_CASE("a last step that is cut short begins where the others do", "[steps]") {
  CHECK(wished(periodic(5, 3, 14), step_wish::Automatic{}).begins == Places{5, 37, 69, 101});
}

TEST_CASE("in random sizes no steps are found", "[steps]") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Choose choose = choose_by_seed(seed);
    TraceBuilder builder;
    for (int i = 0; i < 2000; ++i) {
      builder.deallocate(builder.allocate(Bytes{std::int64_t{1} << choose(24)}));
    }
    INFO(seed);
    CHECK(wished(without_stacks(builder), step_wish::Automatic{}).empty());
  }
}

TEST_CASE("requests that are all alike are no steps", "[steps]") {
  TraceBuilder builder;
  for (int i = 0; i < 500; ++i) builder.deallocate(builder.allocate(1_MiB));
  CHECK(wished(without_stacks(builder), step_wish::Automatic{}).source == StepSource::none);
}

namespace {

/// Four requests, in events 1, 3, 5 and 6; step lines that a wish overrides.
Trace to_be_wished() {
  return unstepped(
      "step\n"
      "malloc a 1MiB 0 @x.py:3:load;t.py:9:main\n"
      "mark epoch 1\n"
      "malloc b 1MiB 0 @y.py:7:forward;t.py:9:main\n"
      "mark epoch 2\n"
      "free a\n"
      "malloc c 1MiB 0 @x.py:3:load;t.py:9:main\n");
}

std::string refusal(const StepWish& wish) {
  const Trace trace = to_be_wished();
  return refusal_of([&] { static_cast<void>(wished(trace, wish)); });
}

step_wish::At at(std::string_view places) { return {parse_places(places, InputPosition{})}; }

}  // namespace

TEST_CASE("steps begin where the user says", "[steps]") {
  const Trace trace = to_be_wished();
  const Steps steps = wished(trace, at("request:3,event:0"));
  CHECK(steps.source == StepSource::given);
  CHECK(steps.marked_by == "--step-at");
  CHECK(steps.begins == Places{2, 6});
  CHECK(wished(trace, at("mark:epoch 1,mark:epoch 1")).begins == Places{3});
}

TEST_CASE("a number of steps divides the requests", "[steps]") {
  const Trace trace = to_be_wished();
  const Steps steps = wished(trace, step_wish::Count{2});
  CHECK(steps.source == StepSource::given);
  CHECK(steps.marked_by == "2 parts of equal length");
  CHECK(steps.begins == Places{1, 5});
  CHECK(wished(trace, step_wish::Count{4}).begins == Places{1, 3, 5, 6});
}

TEST_CASE("a step begins at each mark, and where a frame comes up again, of the user's text",
          "[steps]") {
  const Trace trace = to_be_wished();
  const Steps steps = wished(trace, step_wish::Marker{"epoch"});
  CHECK(steps.source == StepSource::marker);
  CHECK(steps.marked_by == "epoch");
  CHECK(steps.begins == Places{2, 4});
  CHECK(wished(trace, step_wish::Marker{"x.py:3"}).begins == Places{1, 6});
  CHECK(wished(trace, step_wish::Marker{"main"}).begins == Places{1});
}

TEST_CASE("a step begins at each annotation of the user's text", "[steps]") {
  const Annotated annotated{
      {begin_at(25, "iteration 1"), end_at(33, "iteration 1"), begin_at(45, "iteration 2")}};
  const auto moments =
      annotated_moments(annotated.recording, annotated.recording.devices.front(), annotated.trace);
  CHECK(find_steps(
            annotated.trace, annotated.recording.stacks, moments, step_wish::Marker{"iteration"})
            .begins == Places{1, 3});
}

TEST_CASE("a wish that the trace has no place for is refused in a line", "[steps]") {
  CHECK(refusal(at("request:5")) == "--step-at: request:5: the trace has 4 requests");
  CHECK(refusal(at("peak")) == "--step-at: peak is not a place for a step to begin: it moves");
  CHECK(refusal(step_wish::Count{5}) == "--steps: 4 requests make no 5 steps");
  CHECK(refusal(step_wish::Count{0}) == "--steps: 4 requests make no 0 steps");
  CHECK(refusal(step_wish::Marker{"batch"}) ==
        "--step-marker: no annotation, mark or frame contains 'batch'");
}

namespace {

struct RealSteps {
  std::string name;
  Places requests;
};

const std::vector<RealSteps> real_steps{
    {.name = "npu_leak_expandable", .requests = {1, 2040, 3757}},
    {.name = "npu_leak_empty_cache", .requests = {1, 2040, 3757}},
    {.name = "npu_training", .requests = {321, 2359, 4075}},
};

}  // namespace

TEST_CASE("the steps of real recordings begin where their training loops do",
          "[steps][recordings]") {
  for (const RealSteps& expected : real_steps) {
    const auto trace = recorded_trace(expected.name);
    if (!trace) return;
    INFO(expected.name);
    CHECK(trace->steps.source == StepSource::call_stacks);
    CHECK(requests_at(*trace) == expected.requests);
  }
}

TEST_CASE("the steps of real recordings are found without call stacks, too",
          "[steps][recordings]") {
  for (const RealSteps& expected : real_steps) {
    auto trace = recorded_trace(expected.name);
    if (!trace) return;
    INFO(expected.name);
    for (Allocation& allocation : trace->allocations) allocation.stack = StackId{};
    trace->steps = wished(*trace, step_wish::Automatic{});
    CHECK(trace->steps.source == StepSource::period);
    CHECK(requests_at(*trace) == expected.requests);
  }
}

}  // namespace fragcast
