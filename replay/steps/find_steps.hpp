#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "replay/formats/recording.hpp"
#include "replay/trace/place.hpp"
#include "replay/trace/trace.hpp"

namespace fragcast {

/// How the user wants steps to be found.
namespace step_wish {

/// By whatever tells them.
struct Automatic {};
/// A step begins right behind each of these places.
struct At {
  std::vector<Place> places;
};
/// So many of the same number of requests.
struct Count {
  std::size_t steps = 0;
};
/// Where an annotation begins, a mark stands, or a call stack's frame comes up again after others,
/// whose text contains this one.
struct Marker {
  std::string text;
};

}  // namespace step_wish

using StepWish =
    std::variant<step_wish::Automatic, step_wish::At, step_wish::Count, step_wish::Marker>;

/// A moment at which the program said what it begins or has done, as an event of the trace.
struct AnnotatedMoment {
  std::string_view name;
  bool start = true;
  /// The first event after it.
  std::size_t event = 0;
};

/// The annotations of one device whose entries carry times, in order of time; else nothing.
[[nodiscard]] std::vector<AnnotatedMoment> annotated_moments(const Recording& recording,
                                                             const RecordedDevice& device,
                                                             const Trace& trace);

/// Finds the steps of a trace. In this order: as wished; a script's `step` lines; annotations
/// (`ProfilerStep#…`, `Optimizer.step#…`); call stacks; requests that repeat. Steps that are found
/// by nothing are none. `stacks` are those that the trace's allocations name.
///
/// Throws InputError for a wish that the trace has no place for.
[[nodiscard]] Steps find_steps(const Trace& trace,
                               const CallStacks& stacks,
                               const std::vector<AnnotatedMoment>& annotations,
                               const StepWish& wish);

}  // namespace fragcast
