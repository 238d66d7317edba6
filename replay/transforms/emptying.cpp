#include "replay/transforms/emptying.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "replay/engine/session.hpp"
#include "replay/steps/step_needs.hpp"
#include "replay/trace/quantity.hpp"

namespace fragcast {
namespace {

constexpr std::string_view every_prefix = "every:";
constexpr std::string_view step_end = "step-end";
constexpr std::string_view step_end_every = "step-end:every=";
constexpr std::string_view before_longest = "before-step:longest";
constexpr std::string_view gap_prefix = "when:gap>";
constexpr std::string_view utilisation_prefix = "when:utilisation<";
constexpr std::string_view marker_prefix = "marker:";

bool is_request(const Event& event) {
  return event.kind == EventKind::allocate || event.kind == EventKind::deallocate;
}

std::uint64_t parse_count(std::string_view text,
                          std::string_view prefix,
                          const InputPosition& where) {
  const std::string_view digits = text.substr(prefix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size() || number == 0) {
    throw InputError{where, fmt::format("{}: a number from 1 must follow {}", text, prefix)};
  }
  return number;
}

double parse_share(std::string_view text, std::string_view prefix, const InputPosition& where) {
  const std::string number{text.substr(prefix.size())};
  char* end = nullptr;
  const double share = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != '\0' || !(share > 0.0 && share <= 1.0)) {
    throw InputError{where, fmt::format("{}: a share above 0 and up to 1 must follow", text)};
  }
  return share;
}

Emptying parse_emptying(std::string_view text, const InputPosition& where) {
  if (text.starts_with(every_prefix)) {
    return emptying::Every{parse_count(text, every_prefix, where)};
  }
  if (text == step_end) return emptying::StepEnd{};
  if (text.starts_with(step_end_every)) {
    return emptying::StepEnd{parse_count(text, step_end_every, where)};
  }
  if (text == before_longest) return emptying::BeforeLongestStep{};
  if (text.starts_with(gap_prefix)) {
    return emptying::WhenGap{parse_size(text.substr(gap_prefix.size()), where)};
  }
  if (text.starts_with(utilisation_prefix)) {
    return emptying::WhenUtilisation{parse_share(text, utilisation_prefix, where)};
  }
  if (text.starts_with(marker_prefix)) {
    const std::string_view label = text.substr(marker_prefix.size());
    if (label.empty()) throw InputError{where, "marker: the text of a mark must follow"};
    return emptying::Marker{std::string{label}};
  }
  for (const std::string_view prefix : {"event:", "request:", "mark:", "step:"}) {
    if (text.starts_with(prefix)) return emptying::At{parse_place(text, where)};
  }
  if (text == "end") return emptying::At{place::AtEnd{}};
  throw InputError{
      where,
      fmt::format("'{}' says no time for empty_cache: write a place (request:N, event:N, "
                  "mark:TEXT, step:K, "
                  "step:K.end, end), every:N, step-end, step-end:every=K, before-step:longest, "
                  "when:gap>SIZE, when:utilisation<R, marker:TEXT, or none",
                  text)};
}

struct Writer {
  std::string operator()(const emptying::At& at) const { return to_text(at.place); }
  std::string operator()(const emptying::Every& every) const {
    return fmt::format("{}{}", every_prefix, every.requests);
  }
  std::string operator()(const emptying::StepEnd& end) const {
    return end.every == 1 ? std::string{step_end} : fmt::format("{}{}", step_end_every, end.every);
  }
  std::string operator()(const emptying::BeforeLongestStep&) const {
    return std::string{before_longest};
  }
  std::string operator()(const emptying::WhenGap& gap) const {
    const bool whole = gap.above % 1_MiB == Bytes{0};
    return whole ? fmt::format("{}{}MiB", gap_prefix, gap.above / 1_MiB)
                 : fmt::format("{}{}", gap_prefix, gap.above.count());
  }
  std::string operator()(const emptying::WhenUtilisation& utilisation) const {
    return fmt::format("{}{}", utilisation_prefix, utilisation.below);
  }
  std::string operator()(const emptying::Marker& marker) const {
    return fmt::format("{}{}", marker_prefix, marker.text);
  }
};

bool depends_on_run(const Emptying& emptying) {
  return std::holds_alternative<emptying::WhenGap>(emptying) ||
         std::holds_alternative<emptying::WhenUtilisation>(emptying);
}

/// Finds the positions that need no run.
class FixedPositions {
 public:
  FixedPositions(const Trace& trace, const InputPosition& where) : trace_{trace}, where_{where} {}

  void operator()(const emptying::At& at) {
    const auto position = resolve(trace_, at.place, where_);
    if (!position) {
      throw InputError{where_, "peak is not a place to call empty_cache at: it moves"};
    }
    positions_.push_back(*position);
  }
  void operator()(const emptying::Every& every) {
    std::uint64_t requests = 0;
    for (std::size_t i = 0; i < trace_.events.size(); ++i) {
      if (!is_request(trace_.events[i])) continue;
      if (++requests % every.requests == 0) positions_.push_back(i + 1);
    }
  }
  void operator()(const emptying::StepEnd& end) {
    require_steps();
    for (std::size_t number = end.every; number <= trace_.steps.count(); number += end.every) {
      positions_.push_back(trace_.steps.end_of(number, trace_.events.size()));
    }
  }
  void operator()(const emptying::BeforeLongestStep&) {
    require_steps();
    positions_.push_back(trace_.steps.begin_of(steps_by_need(trace_).front()));
  }
  void operator()(const emptying::WhenGap&) { require_steps(); }
  void operator()(const emptying::WhenUtilisation&) { require_steps(); }
  void operator()(const emptying::Marker& marker) {
    const std::size_t before = positions_.size();
    for (std::size_t i = 0; i < trace_.events.size(); ++i) {
      const Event& event = trace_.events[i];
      if (event.kind == EventKind::mark && trace_.labels[event.detail] == marker.text) {
        positions_.push_back(i + 1);
      }
    }
    if (positions_.size() == before) {
      throw InputError{where_, fmt::format("marker:{}: the trace has no such mark", marker.text)};
    }
  }

  [[nodiscard]] std::vector<std::size_t>& positions() { return positions_; }

 private:
  void require_steps() const {
    if (!trace_.steps.empty()) return;
    throw InputError{where_,
                     "no steps were found in the trace (--step-at, --steps and --step-marker say "
                     "where they are)"};
  }

  const Trace& trace_;
  const InputPosition& where_;
  std::vector<std::size_t> positions_;
};

bool calls_for(const std::vector<Emptying>& emptyings, const Usage& usage) {
  return std::any_of(emptyings.begin(), emptyings.end(), [&](const Emptying& emptying) {
    if (const auto* gap = std::get_if<emptying::WhenGap>(&emptying)) {
      return usage.reserved - usage.allocated > gap->above;
    }
    if (const auto* utilisation = std::get_if<emptying::WhenUtilisation>(&emptying)) {
      return static_cast<double>(usage.allocated.count()) <
             utilisation->below * static_cast<double>(usage.reserved.count());
    }
    return false;
  });
}

/// Runs the trace with the calls that are fixed, and asks at each step's end.
std::vector<std::size_t> with_adaptive_ones(const Trace& trace,
                                            const std::vector<Emptying>& emptyings,
                                            const RunSpec& spec,
                                            const std::vector<std::size_t>& fixed) {
  Session session{trace, resolve_conditions(trace, spec)};
  std::vector<std::size_t> positions = fixed;
  // A refused run makes no call; its own replay says why.
  if (!session.refusal().empty()) return positions;
  const auto call = [&] { static_cast<void>(session.model().apply(control::EmptyCache{})); };
  auto next = fixed.begin();
  for (std::size_t number = 1; number <= trace.steps.count(); ++number) {
    const std::size_t end = trace.steps.end_of(number, trace.events.size());
    for (; next != fixed.end() && *next < end; ++next) {
      session.run_to(*next);
      call();
    }
    session.run_to(end);
    if (!calls_for(emptyings, current_usage(session.model().statistics()))) continue;
    call();
    positions.push_back(end);
  }
  return positions;
}

}  // namespace

std::vector<Emptying> parse_emptyings(std::string_view text, const InputPosition& where) {
  std::vector<Emptying> emptyings;
  if (text == "none") return emptyings;
  while (true) {
    const std::size_t comma = text.find(',');
    emptyings.push_back(parse_emptying(text.substr(0, comma), where));
    if (comma == std::string_view::npos) return emptyings;
    text.remove_prefix(comma + 1);
  }
}

std::string to_text(const std::vector<Emptying>& emptyings) {
  if (emptyings.empty()) return "none";
  std::string text;
  for (const Emptying& emptying : emptyings) {
    if (!text.empty()) text += ',';
    text += std::visit(Writer{}, emptying);
  }
  return text;
}

bool depend_on_run(const std::vector<Emptying>& emptyings) {
  return std::any_of(emptyings.begin(), emptyings.end(), depends_on_run);
}

std::vector<std::size_t> positions_of(const Trace& trace,
                                      const std::vector<Emptying>& emptyings,
                                      const RunSpec& spec,
                                      const InputPosition& where) {
  FixedPositions finder{trace, where};
  for (const Emptying& emptying : emptyings) std::visit(finder, emptying);
  std::vector<std::size_t> positions = std::move(finder.positions());
  std::sort(positions.begin(), positions.end());
  if (depend_on_run(emptyings)) {
    positions = with_adaptive_ones(trace, emptyings, spec, positions);
    std::sort(positions.begin(), positions.end());
  }
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

}  // namespace fragcast
