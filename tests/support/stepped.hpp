#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/engine/run_spec.hpp"
#include "replay/load/subject.hpp"
#include "replay/trace/trace.hpp"

namespace fragcast {

/// The trace of a call script, with the steps that are found in it.
[[nodiscard]] Trace stepped(std::string_view script);

/// A call script's trace as a subject, for the NPU allocator.
[[nodiscard]] Subject subject_of(Trace trace, std::string file = "script");

/// The trace of the recording traces/NAME.pickle, call stacks and steps included; nothing, and the
/// test is to return, where it is not there.
[[nodiscard]] std::optional<Trace> recorded_trace(const std::string& name);

/// A run with the NPU allocator under these settings, started cold.
[[nodiscard]] RunSpec npu_spec(std::string settings = "");

/// The lines of a call script that the events of a trace would be, and `step` where one begins.
[[nodiscard]] std::vector<std::string> lines_of(const Trace& trace);

/// What `call` throws as an InputError; `accepted` if it does not.
template <class Call>
std::string refusal_of(Call call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace fragcast
