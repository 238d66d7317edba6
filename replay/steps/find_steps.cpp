#include "replay/steps/find_steps.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "replay/steps/period_steps.hpp"
#include "replay/steps/stack_steps.hpp"

namespace fragcast {
namespace {

bool is_request(const Event& event) {
  return event.kind == EventKind::allocate || event.kind == EventKind::deallocate;
}

bool begins_with(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix);
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Makes steps of what marks them; none if there is no mark.
std::optional<Steps> steps_of(StepSource source,
                              std::vector<std::size_t> begins,
                              std::string marked_by) {
  std::sort(begins.begin(), begins.end());
  begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  if (begins.empty()) return std::nullopt;
  return Steps{.source = source, .begins = std::move(begins), .marked_by = std::move(marked_by)};
}

std::optional<Steps> by_script(const Trace& trace) {
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    if (trace.events[i].kind == EventKind::step) begins.push_back(i);
  }
  return steps_of(StepSource::script, std::move(begins), "step lines");
}

/// A profiler's step begins where its annotation does; an optimizer's step ends one.
std::optional<Steps> by_annotations(const Trace& trace,
                                    const std::vector<AnnotatedMoment>& moments) {
  std::vector<std::size_t> begins;
  for (const AnnotatedMoment& moment : moments) {
    if (moment.start && begins_with(moment.name, "ProfilerStep#")) begins.push_back(moment.event);
  }
  if (!begins.empty()) {
    return steps_of(StepSource::annotations, std::move(begins), "annotations ProfilerStep#…");
  }
  for (const AnnotatedMoment& moment : moments) {
    const bool ends_step = !moment.start && begins_with(moment.name, "Optimizer.step#");
    if (ends_step && moment.event < trace.events.size()) begins.push_back(moment.event);
  }
  // The one step that ends with the trace needs no telling.
  if (begins.empty()) return std::nullopt;
  begins.push_back(0);
  return steps_of(
      StepSource::annotations, std::move(begins), "the ends of annotations Optimizer.step#…");
}

Steps at_places(const Trace& trace, const std::vector<Place>& places) {
  const InputPosition where{.file = "--step-at", .line = {}, .byte = {}};
  std::vector<std::size_t> begins;
  for (const Place& place : places) {
    const auto position = resolve(trace, place, where);
    if (!position) throw InputError{where, "peak is not a place for a step to begin: it moves"};
    if (*position < trace.events.size()) begins.push_back(*position);
  }
  return steps_of(StepSource::given, std::move(begins), "--step-at").value_or(Steps{});
}

Steps of_equal_size(const Trace& trace, std::size_t count) {
  std::vector<std::size_t> requests;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    if (is_request(trace.events[i])) requests.push_back(i);
  }
  if (count == 0 || requests.size() < count) {
    throw InputError{{.file = "--steps", .line = {}, .byte = {}},
                     fmt::format("{} requests make no {} steps", requests.size(), count)};
  }
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < count; ++i) begins.push_back(requests[i * requests.size() / count]);
  return *steps_of(
      StepSource::given, std::move(begins), fmt::format("{} parts of equal length", count));
}

/// Whether some frame of a stack contains a text, each stack worked out once.
class StackMatches {
 public:
  StackMatches(const CallStacks& stacks, std::string_view text) : stacks_{stacks}, text_{text} {}

  bool operator()(StackId stack) {
    if (stack == StackId{}) return false;
    if (stack.index() >= known_.size()) known_.resize(stack.index() + 1, Known::not_yet);
    if (known_[stack.index()] == Known::not_yet) {
      const bool matches = contains(describe(stacks_, stacks_.innermost(stack)), text_) ||
                           (*this)(stacks_.caller(stack));
      known_[stack.index()] = matches ? Known::yes : Known::no;
    }
    return known_[stack.index()] == Known::yes;
  }

 private:
  enum class Known : std::uint8_t { not_yet, no, yes };
  const CallStacks& stacks_;
  std::string_view text_;
  std::vector<Known> known_;
};

Steps by_marker(const Trace& trace,
                const CallStacks& stacks,
                const std::vector<AnnotatedMoment>& moments,
                const std::string& text) {
  std::vector<std::size_t> begins;
  for (const AnnotatedMoment& moment : moments) {
    if (moment.start && contains(moment.name, text)) begins.push_back(moment.event);
  }
  StackMatches matches{stacks, text};
  bool inside = false;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    if (event.kind == EventKind::mark && contains(trace.labels[event.detail], text)) {
      begins.push_back(i);
    }
    if (event.kind != EventKind::allocate) continue;
    const StackId stack = trace.allocations[event.allocation.index()].stack;
    if (stack == StackId{}) continue;
    const bool now = matches(stack);
    if (now && !inside) begins.push_back(i);
    inside = now;
  }
  if (auto steps = steps_of(StepSource::marker, std::move(begins), text)) return *steps;
  throw InputError{{.file = "--step-marker", .line = {}, .byte = {}},
                   fmt::format("no annotation, mark or frame contains '{}'", text)};
}

Steps by_whatever_tells(const Trace& trace,
                        const CallStacks& stacks,
                        const std::vector<AnnotatedMoment>& moments) {
  if (auto steps = by_script(trace)) return *std::move(steps);
  if (auto steps = by_annotations(trace, moments)) return *std::move(steps);
  if (auto steps = steps_by_stacks(trace, stacks)) return *std::move(steps);
  if (auto steps = steps_by_period(trace)) return *std::move(steps);
  return {};
}

}  // namespace

std::vector<AnnotatedMoment> annotated_moments(const Recording& recording,
                                               const RecordedDevice& device,
                                               const Trace& trace) {
  std::vector<AnnotatedMoment> moments;
  if (device.times_us.size() == 0) return moments;
  std::vector<const RecordedAnnotation*> annotations;
  for (const RecordedAnnotation& annotation : recording.annotations) {
    if (annotation.device == device.index) annotations.push_back(&annotation);
  }
  std::stable_sort(annotations.begin(), annotations.end(), [](const auto* a, const auto* b) {
    return a->time_us < b->time_us;
  });
  std::size_t event = 0;
  for (const RecordedAnnotation* annotation : annotations) {
    while (event < trace.events.size() &&
           device.times_us[trace.events[event].source] < annotation->time_us) {
      ++event;
    }
    moments.push_back({.name = annotation->name, .start = annotation->start, .event = event});
  }
  return moments;
}

Steps find_steps(const Trace& trace,
                 const CallStacks& stacks,
                 const std::vector<AnnotatedMoment>& annotations,
                 const StepWish& wish) {
  if (const auto* at = std::get_if<step_wish::At>(&wish)) return at_places(trace, at->places);
  if (const auto* count = std::get_if<step_wish::Count>(&wish)) {
    return of_equal_size(trace, count->steps);
  }
  if (const auto* marker = std::get_if<step_wish::Marker>(&wish)) {
    return by_marker(trace, stacks, annotations, marker->text);
  }
  return by_whatever_tells(trace, stacks, annotations);
}

}  // namespace fragcast
