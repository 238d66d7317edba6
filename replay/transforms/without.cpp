#include "replay/transforms/without.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <variant>

#include "replay/trace/place.hpp"
#include "replay/trace/site.hpp"
#include "replay/transforms/trace_edit.hpp"

namespace fragcast {
namespace {

constexpr std::string_view step_end_suffix = ":step-end";

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Whether `text` contains `part`, and not as the front of a longer number.
bool contains_site(std::string_view text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    if (!is_digit(part.back()) || end == text.size() || !is_digit(text[end])) return true;
  }
  return false;
}

/// `file.py:12 function` is how reports for people may put `file.py:12:function`; and names may
/// hold blanks.
std::string with_colons(std::string text) {
  std::replace(text.begin(), text.end(), ' ', ':');
  return text;
}

/// Which allocations have the call site; each stack is looked at once.
class SiteMatches {
 public:
  SiteMatches(const CallStacks& stacks, std::string site)
      : stacks_{stacks}, site_{with_colons(std::move(site))} {}

  bool operator()(StackId stack) {
    if (stack.index() >= known_.size()) known_.resize(stack.index() + 1);
    std::optional<bool>& known = known_[stack.index()];
    if (!known) {
      const auto frame = call_site(stacks_, stack);
      known = frame && contains_site(with_colons(describe(stacks_, *frame)), site_);
    }
    return *known;
  }

 private:
  const CallStacks& stacks_;
  std::string site_;
  std::vector<std::optional<bool>> known_;
};

/// The allocation that an event is about.
std::optional<AllocationId> subject_of(const Trace& trace, const Event& event) {
  switch (event.kind) {
    case EventKind::allocate:
    case EventKind::deallocate:
    case EventKind::record_stream:
      return event.allocation;
    case EventKind::control:
      if (const auto* erase = std::get_if<control::EraseStream>(&trace.controls[event.detail])) {
        return erase->allocation;
      }
      return std::nullopt;
    case EventKind::complete_events:
    case EventKind::complete_all:
    case EventKind::snapshot:
    case EventKind::cache_info:
    case EventKind::mark:
    case EventKind::step:
      return std::nullopt;
  }
  return std::nullopt;
}

/// The trace without every event about these allocations.
Trace without_allocations(const Trace& trace, const std::vector<bool>& gone) {
  TraceEdit edit{trace};
  while (!edit.at_end()) {
    const auto subject = subject_of(trace, edit.next());
    if (subject && gone[subject->index()]) {
      edit.drop();
    } else {
      edit.keep();
    }
  }
  return std::move(edit.result());
}

/// Frees these allocations at the ends of their steps, those that lived so long.
Trace freed_at_step_ends(const Trace& trace, const std::vector<bool>& concerned) {
  TraceEdit edit{trace};
  std::vector<AllocationId> live;
  std::vector<bool> freed(trace.allocations.size());
  std::size_t step = 0;
  const auto free_live = [&] {
    for (const AllocationId id : live) {
      Event event;
      event.kind = EventKind::deallocate;
      event.allocation = id;
      edit.insert(event);
      freed[id.index()] = true;
    }
    live.clear();
  };
  while (!edit.at_end()) {
    if (step < trace.steps.count() && trace.steps.begins[step] == edit.position()) {
      free_live();
      ++step;
    }
    const Event& event = edit.next();
    const auto subject = subject_of(trace, event);
    // Repeats of a request that failed share one number, so a freed one may come again.
    if (subject && freed[subject->index()] && event.kind != EventKind::allocate) {
      edit.drop();
      continue;
    }
    if (event.kind == EventKind::allocate || event.kind == EventKind::deallocate) {
      live.erase(std::remove(live.begin(), live.end(), event.allocation), live.end());
    }
    if (event.kind == EventKind::allocate && concerned[event.allocation.index()]) {
      live.push_back(event.allocation);
      freed[event.allocation.index()] = false;
    }
    edit.keep();
  }
  free_live();
  return std::move(edit.result());
}

}  // namespace

WithoutSite parse_without(std::string_view text, const InputPosition& where) {
  WithoutSite without;
  if (text.ends_with(step_end_suffix)) {
    text.remove_suffix(step_end_suffix.size());
    without.instead = WithoutSite::Instead::at_step_end;
  }
  if (text.empty()) throw InputError{where, "a call site must follow, such as train.py:12"};
  without.site = text;
  return without;
}

std::string to_text(const WithoutSite& without) {
  const bool at_end = without.instead == WithoutSite::Instead::at_step_end;
  return without.site + (at_end ? std::string{step_end_suffix} : "");
}

Trace without_site(const Trace& trace, const WithoutSite& without, const InputPosition& where) {
  SiteMatches matches{trace.stacks, without.site};
  std::vector<bool> concerned(trace.allocations.size());
  bool any = false;
  for (const Event& event : trace.events) {
    if (event.kind != EventKind::allocate) continue;
    const bool match = matches(trace.allocations[event.allocation.index()].stack);
    concerned[event.allocation.index()] = match;
    any = any || match;
  }
  if (!any) {
    throw InputError{where,
                     fmt::format("no allocation of the trace has the call site '{}' (`fragcast "
                                 "compare` names those that pin most)",
                                 without.site)};
  }
  switch (without.instead) {
    case WithoutSite::Instead::never:
      return without_allocations(trace, concerned);
    case WithoutSite::Instead::at_step_end:
      if (trace.steps.empty()) {
        throw InputError{where,
                         "no steps were found in the trace (--step-at, --steps and --step-marker "
                         "say where they are)"};
      }
      return freed_at_step_ends(trace, concerned);
  }
  return {};
}

Trace without_step(const Trace& trace, std::size_t number, const InputPosition& where) {
  static_cast<void>(resolve(trace, place::AtStep{.number = number}, where));
  const std::size_t begin = trace.steps.begin_of(number);
  const std::size_t end = trace.steps.end_of(number, trace.events.size());
  std::vector<bool> born(trace.allocations.size());
  std::vector<bool> gone(trace.allocations.size());
  for (std::size_t i = begin; i < end; ++i) {
    const Event& event = trace.events[i];
    if (event.kind == EventKind::allocate) born[event.allocation.index()] = true;
    if (event.failed_in_recording) gone[event.allocation.index()] = true;
    if (event.kind == EventKind::deallocate && born[event.allocation.index()]) {
      gone[event.allocation.index()] = true;
    }
  }
  return without_allocations(trace, gone);
}

}  // namespace fragcast
