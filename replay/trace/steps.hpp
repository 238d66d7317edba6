#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fragcast {

/// What a trace's steps were found by.
enum class StepSource : std::uint8_t {
  none,         ///< nothing: the trace has no steps that anyone knows of
  given,        ///< the user says where
  script,       ///< a call script's `step` lines
  marker,       ///< calls, marks or annotations of a text that the user gives
  annotations,  ///< what the program said it was doing
  call_stacks,  ///< the lines of a function that starts over
  period,       ///< requests that repeat
};

/// The steps of a training or serving loop, from 1. What lies before the first is a part of its
/// own; each ends where the next begins, the last one with the trace.
///
///     events   0 ……… begins[0] ……… begins[1] ……… begins[2] ……… end
///              before  step 1        step 2        step 3
struct Steps {
  StepSource source = StepSource::none;
  /// Indices into the trace's events, ascending.
  std::vector<std::size_t> begins;
  /// What marks a step, in words; empty where there are none.
  std::string marked_by;

  [[nodiscard]] bool empty() const { return begins.empty(); }
  [[nodiscard]] std::size_t count() const { return begins.size(); }
  /// Of step `number`, from 1 to count().
  [[nodiscard]] std::size_t begin_of(std::size_t number) const { return begins[number - 1]; }
  /// One behind its last event; the trace has `events`.
  [[nodiscard]] std::size_t end_of(std::size_t number, std::size_t events) const {
    return number < begins.size() ? begins[number] : events;
  }
};

}  // namespace fragcast
