#include "replay/formats/call_script.hpp"

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "replay/formats/call_site.hpp"
#include "replay/formats/input_error.hpp"
#include "tests/support/catch.hpp"

namespace fragcast {
namespace {

Trace read(const std::string& script) {
  std::istringstream input{script};
  return read_call_script(input, "case.txt");
}

std::string refusal(const std::string& script) {
  try {
    static_cast<void>(read(script));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::string rewritten(const std::string& script) {
  std::ostringstream output;
  write_call_script(read(script), output);
  return output.str();
}

template <class Call>
const Call& only_control(const Trace& trace) {
  REQUIRE(trace.controls.size() == 1);
  REQUIRE(std::holds_alternative<Call>(trace.controls.front()));
  return std::get<Call>(trace.controls.front());
}

}  // namespace

TEST_CASE("malloc and free name an allocation by any word", "[call_script]") {
  const Trace trace = read("malloc w1 530MiB 3\nmalloc 7 512 0\nfree w1\n");
  REQUIRE(trace.events.size() == 3);
  CHECK(trace.allocations.size() == 2);

  CHECK(trace.events[0].kind == EventKind::allocate);
  CHECK(trace.events[0].size == 530_MiB);
  CHECK(trace.events[0].stream == StreamId{std::uint16_t{3}});
  CHECK(trace.events[0].allocation == AllocationId{0U});
  CHECK(trace.events[1].allocation == AllocationId{1U});
  CHECK(trace.events[2].kind == EventKind::deallocate);
  CHECK(trace.events[2].allocation == AllocationId{0U});
}

TEST_CASE("a name may be used again after its free, for another allocation", "[call_script]") {
  const Trace trace = read("malloc a 1 0\nfree a\nmalloc a 2 0\nfree a\n");
  CHECK(trace.events[1].allocation == AllocationId{0U});
  CHECK(trace.events[3].allocation == AllocationId{1U});
}

TEST_CASE("names are words: 1 and 01 are two, and large numbers are names too", "[call_script]") {
  const Trace trace =
      read("malloc 1 1 0\nmalloc 01 1 0\nmalloc 18446744073709551615 1 0\nfree 01\n");
  CHECK(trace.events[3].allocation == AllocationId{1U});
}

TEST_CASE("header lines set the conditions", "[call_script]") {
  const Conditions conditions =
      read(
          "conf max_split_size_mb:64, garbage_collection_threshold:0.8\ndevice_memory 1.5GiB\n"
          "fraction 0.9\nevents deferred\nsoc ascend950\n")
          .conditions;
  CHECK(conditions.settings == "max_split_size_mb:64, garbage_collection_threshold:0.8");
  CHECK(conditions.device_memory == 1536_MiB);
  CHECK(conditions.fraction == 0.9);
  CHECK_FALSE(conditions.instant_events);
  CHECK(conditions.soc == "ascend950");
}

TEST_CASE("what a header leaves out stays open", "[call_script]") {
  const Conditions conditions = read("").conditions;
  CHECK_FALSE(conditions.settings);
  CHECK_FALSE(conditions.device_memory);
  CHECK_FALSE(conditions.fraction);
  CHECK_FALSE(conditions.soc);
  CHECK(conditions.instant_events);
}

TEST_CASE("every call has a form", "[call_script]") {
  CHECK(read("complete_events\n").events[0].kind == EventKind::complete_all);
  CHECK(read("complete_events 2\n").events[0].kind == EventKind::complete_events);
  CHECK(read("complete_events 2\n").events[0].stream == StreamId{std::uint16_t{2}});
  CHECK(read("snapshot\n").events[0].kind == EventKind::snapshot);
  CHECK(read("cache_info\n").events[0].kind == EventKind::cache_info);
  CHECK(read("step\n").events[0].kind == EventKind::step);

  const Trace recorded = read("malloc a 1 0\nrecord_stream a 4\n");
  CHECK(recorded.events[1].kind == EventKind::record_stream);
  CHECK(recorded.events[1].stream == StreamId{std::uint16_t{4}});

  only_control<control::Synchronize>(read("sync\n"));
  only_control<control::EmptyCache>(read("empty_cache\n"));
  only_control<control::EmptyVirtualAddressCache>(read("empty_virt_addr_cache\n"));
  only_control<control::ResetPeak>(read("reset_peak\n"));
  only_control<control::ResetAccumulated>(read("reset_accumulated\n"));
  only_control<control::CaptureBegin>(read("capture_begin\n"));
  CHECK(only_control<control::PoolCreate>(read("pool_create 3\n")).pool == PoolId{3U});
  CHECK(only_control<control::PoolBegin>(read("pool_begin 3\n")).pool == PoolId{3U});
  CHECK(only_control<control::PoolEmpty>(read("pool_empty 3\n")).pool == PoolId{3U});
  CHECK(only_control<control::PoolNoSplit>(read("pool_no_split 3\n")).enabled);
  CHECK(only_control<control::PoolUseOnOom>(read("pool_use_on_oom 3 1\n")).enabled);
  CHECK_FALSE(only_control<control::PoolUseOnOom>(read("pool_use_on_oom 3 0\n")).enabled);
  CHECK(only_control<control::SetFraction>(read("set_fraction 0.25\n")).fraction == 0.25);
  CHECK(only_control<control::ChangeSettings>(read("settings expandable_segments:True\n")).text ==
        "expandable_segments:True");

  const Trace erased = read("malloc a 1 2\nerase_stream a 5 2\n");
  const auto& erase = only_control<control::EraseStream>(erased);
  CHECK(erase.allocation == AllocationId{0U});
  CHECK(erase.owner == StreamId{std::uint16_t{2}});
  CHECK(erase.stream == StreamId{std::uint16_t{5}});
}

TEST_CASE("calls are numbered from 0, whatever notes stand between them", "[call_script]") {
  const Trace trace = read(
      "# a comment\n\nconf a:b\nstep\nmalloc a 1 0\nmark half way # is no comment\nfree a\nstep\n");
  REQUIRE(trace.events.size() == 5);
  CHECK(trace.events[0].source == 0);
  CHECK(trace.events[1].source == 0);
  CHECK(trace.events[2].source == 1);
  CHECK(trace.events[3].source == 1);
  CHECK(trace.events[4].source == 2);
  CHECK(trace.source_entries == 2);
  REQUIRE(trace.labels.size() == 1);
  CHECK(trace.labels[0] == "half way # is no comment");
}

TEST_CASE("comments, blanks and line ends of other systems are passed over", "[call_script]") {
  const Trace trace = read("  malloc\ta  1   0   # why\r\n\t\r\nmalloc a#b 1 0\r\nfree a#b\r\n");
  CHECK(trace.events.size() == 3);
}

TEST_CASE("a call site is a stack, innermost frame first", "[call_script]") {
  const Trace trace = read(
      "malloc a 1 0 @train.py:12:forward;train.py:40:main\n"
      "malloc b 1 0 @train.py:12:forward;train.py:40:main\n"
      "malloc c 1 0 @op.cpp:7:at::empty(int, char) [clone .cold];train.py:40:main # all of it\n"
      "malloc d 1 0\n");
  const auto stack_of = [&](std::size_t i) { return trace.allocations[i].stack; };
  CHECK(stack_of(0) == stack_of(1));
  CHECK(stack_of(3) == StackId{});

  const Frame& inner = trace.stacks.frame(trace.stacks.innermost(stack_of(0)));
  CHECK(trace.stacks.text(inner.file) == "train.py");
  CHECK(inner.line == 12);
  CHECK(trace.stacks.text(inner.function) == "forward");
  const Frame& outer = trace.stacks.frame(trace.stacks.innermost(trace.stacks.caller(stack_of(0))));
  CHECK(trace.stacks.text(outer.function) == "main");

  const Frame& native = trace.stacks.frame(trace.stacks.innermost(stack_of(2)));
  CHECK(trace.stacks.text(native.function) == "at::empty(int, char) [clone .cold]");
}

TEST_CASE("the calls that a script may not make are refused by line", "[call_script]") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"malloc a 1 0\nmalloc a 1 0\n",
       "case.txt:2: malloc of a, which is live since line 1: free it first, or take another name"},
      {"free a\n", "case.txt:1: free of a, which was never allocated"},
      {"malloc a 1 0\n\nfree a\nfree a\n",
       "case.txt:4: free of a, which is not live (allocated at line 1, freed at line 3)"},
      {"malloc 5 1 0\nfree 5\nrecord_stream 5 1\n",
       "case.txt:3: record_stream of 5, which is not live (allocated at line 1, freed at line 2)"},
      {"erase_stream a 0 1\n", "case.txt:1: erase_stream of a, which was never allocated"},
      {"malloc a -5 0\n", "case.txt:1: -5 is negative: a size is not"},
      {"malloc a 4611686018427387905 0\n",
       "case.txt:1: 4611686018427387905 is beyond 4 EiB, the largest size"},
      {"malloc a 18446744073709551616 0\n",
       "case.txt:1: 18446744073709551616 is beyond 4 EiB, the largest size"},
      {"malloc a 12GB 0\n",
       "case.txt:1: '12GB' may mean two sizes: write GiB for the binary unit, or bytes"},
      {"malloc a 1 65536\n", "case.txt:1: '65536' is no stream: streams are numbered 0 to 65535"},
      {"malloc a 1 -1\n", "case.txt:1: '-1' is no stream: streams are numbered 0 to 65535"},
      {"malloc a 1\n",
       "case.txt:1: 2 words follow malloc: write malloc ID SIZE STREAM [@FILE:LINE:FUNCTION;…]"},
      {"free\n", "case.txt:1: 0 words follow free: write free ID"},
      {"sync now\n", "case.txt:1: 1 words follow sync: write sync"},
      {"malloc a 1 0 train.py:1:f\n",
       "case.txt:1: 'train.py:1:f' follows a whole malloc: a call site begins with @"},
      {"malloc a 1 0 @train.py\n",
       "case.txt:1: 'train.py' is no call site: write FILE:LINE:FUNCTION, several joined by ;"},
      {"malloc a 1 0\nconf x:y\n",
       "case.txt:2: conf is a header line: it must stand before the first call"},
      {"soc ascend950\nsoc ascend910b\n", "case.txt:2: soc was already given at line 1"},
      {"soc gaudi\n", "case.txt:1: soc gaudi is unknown: ascend910b and ascend950 are known"},
      {"events never\n", "case.txt:1: events are instant or deferred, not never"},
      {"fraction 1.5\n",
       "case.txt:1: '1.5' is no fraction: write a number from 0 to 1, such as 0.9"},
      {"set_fraction nan\n",
       "case.txt:1: 'nan' is no fraction: write a number from 0 to 1, such as 0.9"},
      {"pool_begin 0\n", "case.txt:1: '0' is no private pool: they are numbered 1 to 65535"},
      {"pool_begin 1\npool_end 1\npool_end 1\n",
       "case.txt:3: pool_end 1 without an open scope: pool_begin 1 opens one"},
      {"pool_create 2\npool_release 2\npool_release 2\n",
       "case.txt:3: pool_release 2 without a use left: each pool_create 2 and pool_begin 2 adds "
       "one"},
      {"pool_use_on_oom 1 yes\n",
       "case.txt:1: pool_use_on_oom takes 0 or 1 after the pool, not yes"},
      {"capture_begin\ncapture_end\ncapture_end\n",
       "case.txt:3: capture_end without an open capture: capture_begin opens one"},
      {"mark\n", "case.txt:1: 0 words follow mark: write mark TEXT"},
  };
  for (const auto& [script, expected] : cases) CHECK(refusal(script) == expected);
}

TEST_CASE("an unknown word is refused with the words that are known", "[call_script]") {
  CHECK_THAT(refusal("maloc a 1 0\n"),
             Catch::Matchers::StartsWith(
                 "case.txt:1: 'maloc' begins no line of a call script: malloc, free, "));
}

TEST_CASE("a written script reads back as the same trace", "[call_script]") {
  const std::string script =
      "conf expandable_segments:True\n"
      "device_memory 8589934592\n"
      "fraction 0.9\n"
      "events deferred\n"
      "soc ascend950\n"
      "step\n"
      "malloc 0 555745280 0 @train.py:12:forward;C%3A\\run.py:40:main\n"
      "malloc 1 0 3\n"
      "record_stream 0 2\n"
      "erase_stream 0 2 0\n"
      "complete_events 2\n"
      "complete_events\n"
      "pool_create 1\n"
      "pool_begin 1\n"
      "pool_end 1\n"
      "pool_release 1\n"
      "pool_empty 1\n"
      "pool_use_on_oom 1 1\n"
      "pool_no_split 1 1\n"
      "capture_begin\n"
      "capture_end\n"
      "settings expandable_segments:False,max_split_size_mb:64\n"
      "set_fraction 0.5\n"
      "sync\n"
      "empty_cache\n"
      "empty_virt_addr_cache\n"
      "reset_peak\n"
      "reset_accumulated\n"
      "cache_info\n"
      "snapshot\n"
      "mark 100%25 #1\n"
      "free 1\n"
      "free 0\n";
  CHECK(rewritten(script) == script);
}

TEST_CASE("texts with line ends and separators survive being written", "[call_script]") {
  Trace trace = read("mark x\nmalloc 0 1 0\n");
  trace.labels[0] = " two\nlines%0A ";
  const Frame frame{.function = trace.stacks.intern("a;b\r\nc "),
                    .file = trace.stacks.intern("C:\\odd:12:name;.py"),
                    .line = 18446744073709551615U};
  trace.allocations[0].stack = trace.stacks.intern(StackId{}, trace.stacks.intern(frame));

  std::ostringstream output;
  write_call_script(trace, output);
  const Trace again = read(output.str());
  CHECK(again.labels[0] == " two\nlines%0A ");
  const Frame& read_back = again.stacks.frame(again.stacks.innermost(again.allocations[0].stack));
  CHECK(again.stacks.text(read_back.function) == "a;b\r\nc ");
  CHECK(again.stacks.text(read_back.file) == "C:\\odd:12:name;.py");
  CHECK(read_back.line == 18446744073709551615U);
}

TEST_CASE("what a script cannot say is not written", "[call_script]") {
  Trace failed = read("malloc a 1 0\n");
  failed.events[0].failed_in_recording = true;
  std::ostringstream output;
  CHECK_THROWS_AS(write_call_script(failed, output), InputError);

  Trace mid_run = read("malloc a 1 0\n");
  mid_run.initial.heap.segments.emplace_back();
  CHECK_THROWS_AS(write_call_script(mid_run, output), InputError);
  CHECK(output.str().empty());
}

TEST_CASE("a call script is known by its first word", "[call_script]") {
  CHECK(looks_like_call_script("# notes\n\nconf a:b\n"));
  CHECK(looks_like_call_script("malloc 1 "));
  CHECK_FALSE(looks_like_call_script(""));
  CHECK_FALSE(looks_like_call_script("# only a comment\n"));
  CHECK_FALSE(looks_like_call_script("{\"op\":-1}\nmalloc 1 1 0\n"));
  CHECK_FALSE(looks_like_call_script("\x80\x04\x95"));
}

}  // namespace fragcast
