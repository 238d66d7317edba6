#pragma once

#include <optional>

#include "replay/trace/call_stacks.hpp"

namespace fragcast {

/// The frame that people would call a stack's place: the innermost one outside torch, torch_npu,
/// other installed packages and the interpreter. Where all is library code, its innermost frame;
/// where all is compiled, the operator. Nothing for an empty stack.
[[nodiscard]] std::optional<FrameId> call_site(const CallStacks& stacks, StackId stack);

/// Whether a frame is of the user's own program: neither installed packages, nor the interpreter,
/// nor compiled code.
[[nodiscard]] bool is_users_own(const CallStacks& stacks, FrameId frame);

}  // namespace fragcast
