#include "tests/support/stepped.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "replay/formats/call_script.hpp"
#include "replay/load/subject.hpp"
#include "tests/support/recordings.hpp"

namespace fragcast {

Trace stepped(std::string_view script) {
  std::istringstream input{std::string{script}};
  Trace trace = read_call_script(input, "script");
  trace.steps = find_steps(trace, trace.stacks, {}, step_wish::Automatic{});
  return trace;
}

Subject subject_of(Trace trace, std::string file) {
  Subject subject;
  subject.kind = SourceKind::call_script;
  subject.source.file = std::move(file);
  subject.events = trace.events.size();
  subject.history.trace = std::move(trace);
  subject.history.conditions.model = "npu-caching";
  return subject;
}

std::optional<Trace> recorded_trace(const std::string& name) {
  const auto file = recording("traces/" + name + ".pickle");
  if (!file) return std::nullopt;
  std::vector<Subject> subjects = load_subjects(file->string(), {});
  const auto busiest =
      std::max_element(subjects.begin(), subjects.end(), [](const Subject& a, const Subject& b) {
        return a.events < b.events;
      });
  return std::move(busiest->history.trace);
}

RunSpec npu_spec(std::string settings) {
  RunSpec spec;
  spec.name = "test";
  spec.model = find_model("npu-caching");
  spec.settings = std::move(settings);
  return spec;
}

std::vector<std::string> lines_of(const Trace& trace) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const auto& begins = trace.steps.begins;
    const bool begins_step = std::find(begins.begin(), begins.end(), i) != begins.end();
    const bool says_so = trace.events[i].kind == EventKind::step;
    if (begins_step && !says_so) lines.emplace_back("(step)");
    lines.push_back(call_line(trace, trace.events[i]));
  }
  return lines;
}

}  // namespace fragcast
