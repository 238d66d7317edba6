#include "replay/trace/place.hpp"

#include <fmt/format.h>

#include <charconv>
#include <set>

#include "replay/trace/quantity.hpp"

namespace fragcast {
namespace {

constexpr std::string_view event_prefix = "event:";
constexpr std::string_view request_prefix = "request:";
constexpr std::string_view mark_prefix = "mark:";
constexpr std::string_view step_prefix = "step:";
constexpr std::string_view end_of_step = ".end";

[[noreturn]] void refuse(const InputPosition& where, const std::string& sentence) {
  throw InputError{where, sentence};
}

std::uint64_t parse_number(std::string_view text,
                           std::string_view prefix,
                           const InputPosition& where) {
  const std::string_view digits = text.substr(prefix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    refuse(where, fmt::format("{}: a number must follow, as in {}100", text, prefix));
  }
  return number;
}

bool is_request(const Event& event) {
  return event.kind == EventKind::allocate || event.kind == EventKind::deallocate;
}

/// Finds places in one trace.
class Resolver {
 public:
  Resolver(const Trace& trace, const InputPosition& where) : trace_{trace}, where_{where} {}

  std::optional<std::size_t> operator()(const place::AtEvent& place) const {
    const std::uint64_t entries = trace_.source_entries;
    if (place.index >= entries) {
      const std::string have = entries == 0
                                   ? "the trace has no events"
                                   : fmt::format("the trace has events 0 to {}",
                                                 grouped(static_cast<std::int64_t>(entries - 1)));
      refuse(where_, fmt::format("event:{}: {}", place.index, have));
    }
    return count_until([&](const Event& event) { return event.source > place.index; });
  }

  std::optional<std::size_t> operator()(const place::AtRequest& place) const {
    std::uint64_t seen = 0;
    std::size_t events = 0;
    for (const Event& event : trace_.events) {
      ++events;
      if (is_request(event) && ++seen == place.number) return events;
    }
    refuse(where_,
           fmt::format("request:{}: the trace has {} requests",
                       place.number,
                       grouped(static_cast<std::int64_t>(seen))));
  }

  std::optional<std::size_t> operator()(const place::AtMark& place) const {
    const std::size_t before = count_until([&](const Event& event) {
      return event.kind == EventKind::mark && trace_.labels[event.detail] == place.text;
    });
    if (before < trace_.events.size()) return before + 1;
    const std::string known = known_marks();
    refuse(where_,
           known.empty() ? fmt::format("mark:{}: the trace has no marks", place.text)
                         : fmt::format("mark:{}: the trace has the marks {}", place.text, known));
  }

  std::optional<std::size_t> operator()(const place::AtStep& place) const {
    const Steps& steps = trace_.steps;
    if (place.number > steps.count()) {
      refuse(
          where_,
          fmt::format("step:{}: {}",
                      place.number,
                      steps.empty() ? "no steps were found in the trace (--step-at, --steps and "
                                      "--step-marker say where they are)"
                                    : fmt::format("the trace has steps 1 to {}", steps.count())));
    }
    return place.end ? steps.end_of(place.number, trace_.events.size())
                     : steps.begin_of(place.number);
  }

  std::optional<std::size_t> operator()(const place::AtPeak&) const { return std::nullopt; }

  std::optional<std::size_t> operator()(const place::AtEnd&) const { return trace_.events.size(); }

 private:
  template <class Predicate>
  [[nodiscard]] std::size_t count_until(Predicate stop) const {
    std::size_t events = 0;
    for (const Event& event : trace_.events) {
      if (stop(event)) break;
      ++events;
    }
    return events;
  }

  [[nodiscard]] std::string known_marks() const {
    constexpr std::size_t most = 10;
    std::set<std::string_view> seen;
    std::string list;
    for (const Event& event : trace_.events) {
      if (event.kind != EventKind::mark) continue;
      const std::string& label = trace_.labels[event.detail];
      if (!seen.insert(label).second) continue;
      if (seen.size() > most) return list + ", …";
      if (!list.empty()) list += ", ";
      list += label;
    }
    return list;
  }

  const Trace& trace_;
  const InputPosition& where_;
};

struct Writer {
  std::string operator()(const place::AtEvent& place) const {
    return fmt::format("{}{}", event_prefix, place.index);
  }
  std::string operator()(const place::AtRequest& place) const {
    return fmt::format("{}{}", request_prefix, place.number);
  }
  std::string operator()(const place::AtMark& place) const {
    return fmt::format("{}{}", mark_prefix, place.text);
  }
  std::string operator()(const place::AtStep& place) const {
    return fmt::format("{}{}{}", step_prefix, place.number, place.end ? end_of_step : "");
  }
  std::string operator()(const place::AtPeak&) const { return "peak"; }
  std::string operator()(const place::AtEnd&) const { return "end"; }
};

}  // namespace

Place parse_place(std::string_view text, const InputPosition& where) {
  if (text == "peak") return place::AtPeak{};
  if (text == "end") return place::AtEnd{};
  if (text.starts_with(event_prefix)) {
    return place::AtEvent{parse_number(text, event_prefix, where)};
  }
  if (text.starts_with(request_prefix)) {
    const std::uint64_t number = parse_number(text, request_prefix, where);
    if (number == 0) refuse(where, fmt::format("{}: requests count from 1", text));
    return place::AtRequest{number};
  }
  if (text.starts_with(step_prefix)) {
    place::AtStep step{.number = 0, .end = text.ends_with(end_of_step)};
    const std::string_view number =
        text.substr(0, text.size() - (step.end ? end_of_step.size() : 0));
    step.number = parse_number(number, step_prefix, where);
    if (step.number == 0) refuse(where, fmt::format("{}: steps count from 1", text));
    return step;
  }
  if (text.starts_with(mark_prefix)) {
    const std::string_view label = text.substr(mark_prefix.size());
    if (label.empty()) refuse(where, "mark: the text of a mark must follow");
    return place::AtMark{std::string{label}};
  }
  refuse(where,
         fmt::format(
             "'{}' is not a place: write event:N, request:N, mark:TEXT, step:K, step:K.end, peak "
             "or end",
             text));
}

std::vector<Place> parse_places(std::string_view text, const InputPosition& where) {
  std::vector<Place> places;
  while (true) {
    const std::size_t comma = text.find(',');
    places.push_back(parse_place(text.substr(0, comma), where));
    if (comma == std::string_view::npos) return places;
    text.remove_prefix(comma + 1);
  }
}

std::string to_text(const Place& place) { return std::visit(Writer{}, place); }

std::optional<std::size_t> resolve(const Trace& trace,
                                   const Place& place,
                                   const InputPosition& where) {
  return std::visit(Resolver{trace, where}, place);
}

}  // namespace fragcast
