#include "replay/trace/call_stacks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fragcast {

// Node 0 is the empty stack. It is in no index: nothing else has its pair of caller and frame.
CallStacks::CallStacks() : nodes_(1) {}

FrameId CallStacks::intern(const Frame& frame) {
  const std::uint64_t texts =
      (std::uint64_t{frame.function.value()} << 32) | std::uint64_t{frame.file.value()};
  return frame_index_.find_or_add(
      mix(texts ^ mix(frame.line)),
      [&](FrameId id) { return frames_[id.index()] == frame; },
      [&] {
        frames_.push_back(frame);
        return FrameId{frames_.size() - 1};
      });
}

StackId CallStacks::intern(StackId caller, FrameId frame) {
  // Most callers call one thing over and over.
  const StackId latest = nodes_[caller.index()].callee;
  if (latest != StackId{} && nodes_[latest.index()].frame == frame) return latest;
  const std::uint64_t pair = (std::uint64_t{caller.value()} << 32) | std::uint64_t{frame.value()};
  const StackId stack = node_index_.find_or_add(
      mix(pair),
      [&](StackId id) {
        const Node& node = nodes_[id.index()];
        return node.caller == caller && node.frame == frame;
      },
      [&] {
        nodes_.push_back({.caller = caller, .frame = frame, .callee = {}});
        return StackId{nodes_.size() - 1};
      });
  nodes_[caller.index()].callee = stack;
  return stack;
}

StackId CallStacks::intern(std::span<const FrameId> innermost_first) {
  // Neighbouring entries of a recording mostly differ in their innermost calls only.
  const std::size_t most = std::min(innermost_first.size(), last_.size());
  std::size_t shared = 0;
  while (shared < most &&
         last_[shared].frame == innermost_first[innermost_first.size() - 1 - shared]) {
    ++shared;
  }
  last_.resize(shared);
  StackId stack = shared == 0 ? StackId{} : last_.back().stack;
  for (std::size_t i = innermost_first.size() - shared; i-- > 0;) {
    stack = intern(stack, innermost_first[i]);
    last_.push_back({.frame = innermost_first[i], .stack = stack});
  }
  return stack;
}

std::string describe(const CallStacks& stacks, FrameId frame) {
  const Frame& place = stacks.frame(frame);
  std::string_view file = stacks.text(place.file);
  // Recordings come from Windows, too.
  if (const std::size_t slash = file.find_last_of("/\\"); slash != std::string_view::npos) {
    file.remove_prefix(slash + 1);
  }
  return fmt::format("{}:{}:{}", file, place.line, stacks.text(place.function));
}

}  // namespace fragcast
