#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/trace/id_index.hpp"
#include "replay/trace/text_table.hpp"
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

  TextId intern(std::string_view text) { return texts_.intern(text); }
  FrameId intern(const Frame& frame);
  /// The stack of `frame` called from `caller` (StackId{} if outermost).
  StackId intern(StackId caller, FrameId frame);
  /// The stack of these frames, innermost first as files have them; StackId{} if there are none.
  /// Fast for stacks that resemble the one before.
  StackId intern(std::span<const FrameId> innermost_first);

  /// Valid until the next text is interned.
  [[nodiscard]] std::string_view text(TextId id) const { return texts_[id]; }
  [[nodiscard]] const Frame& frame(FrameId id) const { return frames_[id.index()]; }
  /// The innermost frame of a stack that is not empty.
  [[nodiscard]] FrameId innermost(StackId stack) const { return nodes_[stack.index()].frame; }
  /// The stack without its innermost frame.
  [[nodiscard]] StackId caller(StackId stack) const { return nodes_[stack.index()].caller; }

  [[nodiscard]] std::size_t frame_count() const { return frames_.size(); }
  /// Of stacks that are not empty, the callers of other stacks included.
  [[nodiscard]] std::size_t stack_count() const { return nodes_.size() - 1; }

 private:
  struct Node {
    StackId caller;
    FrameId frame;
    /// The stack interned last of those called from this one; StackId{} if none was.
    StackId callee;
  };
  struct Level {
    FrameId frame;
    StackId stack;
  };

  TextTable<TextId> texts_;
  std::vector<Frame> frames_;
  IdIndex<FrameId> frame_index_;
  std::vector<Node> nodes_;
  IdIndex<StackId> node_index_;
  /// The stack interned last, outermost first.
  std::vector<Level> last_;
};

/// `file.py:12:function`, without the directory.
[[nodiscard]] std::string describe(const CallStacks& stacks, FrameId frame);

}  // namespace fragcast
