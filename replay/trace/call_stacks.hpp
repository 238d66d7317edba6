#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/core/strong_id.hpp"

namespace fragcast {

using TextId = StrongId<struct TextTag>;
using FrameId = StrongId<struct FrameTag>;
/// A call stack; StackId{} (0) is the empty stack, "no stack was recorded".
using StackId = StrongId<struct StackTag>;

/// One line of a call stack. `line` is kept as recorded (one public file holds 2^64 − 1).
struct Frame {
  TextId function;
  TextId file;
  std::uint64_t line = 0;
  bool operator==(const Frame&) const = default;
};

/// Call stacks, stored once each: texts and frames are interned, and stacks that share their outer
/// calls share them in memory too.
///
///     outermost        innermost
///     main ── train ── step ── forward     StackId 4: (frame forward, caller 3)
///                           └─ backward    StackId 5: (frame backward, caller 3)
class CallStacks {
 public:
  CallStacks();

  TextId intern(std::string_view text);
  FrameId intern(const Frame& frame);
  /// The stack of `frame` called from `caller` (StackId{} if outermost).
  StackId intern(StackId caller, FrameId frame);

  [[nodiscard]] std::string_view text(TextId id) const;
  [[nodiscard]] const Frame& frame(FrameId id) const;
  /// The innermost frame of a stack that is not empty.
  [[nodiscard]] FrameId innermost(StackId stack) const;
  /// The stack without its innermost frame.
  [[nodiscard]] StackId caller(StackId stack) const;

  [[nodiscard]] std::size_t frame_count() const { return frames_.size(); }
  [[nodiscard]] std::size_t stack_count() const { return nodes_.size() - 1; }

 private:
  struct Node {
    StackId caller;
    FrameId frame;
  };
  struct FrameHash {
    std::size_t operator()(const Frame& f) const;
  };

  // Texts live in `texts_` and are looked up by views into it, so its strings must not move.
  std::vector<std::string> texts_;
  std::unordered_map<std::string, TextId> text_ids_;
  std::vector<Frame> frames_;
  std::unordered_map<Frame, FrameId, FrameHash> frame_ids_;
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, StackId> node_ids_;
};

/// `file.py:12:function`, without the directory.
[[nodiscard]] std::string describe(const CallStacks& stacks, FrameId frame);

}  // namespace fragcast
