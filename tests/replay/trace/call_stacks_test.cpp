#include "replay/trace/call_stacks.hpp"

#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace fragcast {
namespace {

FrameId frame(CallStacks& stacks, const std::string& function, std::uint64_t line = 1) {
  return stacks.intern(Frame{
      .function = stacks.intern(function), .file = stacks.intern("/src/train.py"), .line = line});
}

TEST_CASE("equal texts, frames and stacks have one number", "[call_stacks]") {
  CallStacks stacks;
  CHECK(stacks.intern("a") == stacks.intern("a"));
  CHECK(stacks.intern("a") != stacks.intern("b"));
  CHECK(frame(stacks, "f", 1) == frame(stacks, "f", 1));
  CHECK(frame(stacks, "f", 1) != frame(stacks, "f", 2));
  const std::vector<FrameId> calls{frame(stacks, "inner"), frame(stacks, "outer")};
  CHECK(stacks.intern(calls) == stacks.intern(calls));
}

TEST_CASE("a stack is its innermost frame and its caller", "[call_stacks]") {
  CallStacks stacks;
  const FrameId inner = frame(stacks, "inner");
  const FrameId outer = frame(stacks, "outer");
  const StackId stack = stacks.intern(std::vector{inner, outer});
  CHECK(stacks.innermost(stack) == inner);
  CHECK(stacks.innermost(stacks.caller(stack)) == outer);
  CHECK(stacks.caller(stacks.caller(stack)) == StackId{});
  CHECK(stacks.intern(stacks.intern(StackId{}, outer), inner) == stack);
}

TEST_CASE("stacks share their outer calls", "[call_stacks]") {
  CallStacks stacks;
  const FrameId main = frame(stacks, "main");
  const FrameId step = frame(stacks, "step");
  const StackId forward = stacks.intern(std::vector{frame(stacks, "forward"), step, main});
  const StackId backward = stacks.intern(std::vector{frame(stacks, "backward"), step, main});
  CHECK(stacks.caller(forward) == stacks.caller(backward));
  CHECK(stacks.stack_count() == 4);
  CHECK(stacks.intern(std::vector{step, main}) == stacks.caller(forward));
  CHECK(stacks.stack_count() == 4);
}

TEST_CASE("a recursive call is a stack of its own", "[call_stacks]") {
  CallStacks stacks;
  const FrameId f = frame(stacks, "f");
  const StackId once = stacks.intern(std::vector{f});
  const StackId twice = stacks.intern(std::vector{f, f});
  CHECK(once != twice);
  CHECK(stacks.caller(twice) == once);
}

TEST_CASE("no frames are the empty stack", "[call_stacks]") {
  CallStacks stacks;
  CHECK(stacks.intern(std::vector<FrameId>{}) == StackId{});
  CHECK(stacks.stack_count() == 0);
}

TEST_CASE("many texts and stacks are told apart", "[call_stacks]") {
  CallStacks stacks;
  StackId stack;
  for (int i = 0; i < 5000; ++i) stack = stacks.intern(stack, frame(stacks, std::to_string(i)));
  CHECK(stacks.frame_count() == 5000);
  CHECK(stacks.stack_count() == 5000);
  for (int i = 4999; i >= 0; --i) {
    REQUIRE(stacks.text(stacks.frame(stacks.innermost(stack)).function) == std::to_string(i));
    stack = stacks.caller(stack);
  }
}

TEST_CASE("a frame is described without the directory of its file", "[call_stacks]") {
  CallStacks stacks;
  CHECK(describe(stacks, frame(stacks, "forward", 12)) == "train.py:12:forward");
  const FrameId windows = stacks.intern(
      Frame{.function = stacks.intern("run"), .file = stacks.intern("C:\\job\\a.py"), .line = 3});
  CHECK(describe(stacks, windows) == "a.py:3:run");
}

}  // namespace
}  // namespace fragcast
