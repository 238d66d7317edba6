#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "replay/formats/input_error.hpp"
#include "replay/trace/trace.hpp"

namespace fragcast {

namespace place {

/// `event:N`: after the device's N-th recorded entry, or a script's N-th call, counted from 0.
struct AtEvent {
  std::uint64_t index = 0;
  bool operator==(const AtEvent&) const = default;
};
/// `request:N`: after the N-th request, allocations and frees counted together from 1.
struct AtRequest {
  std::uint64_t number = 0;
  bool operator==(const AtRequest&) const = default;
};
/// `mark:TEXT`: at the first mark of that text.
struct AtMark {
  std::string text;
  bool operator==(const AtMark&) const = default;
};
/// `step:K` or, with `end`, `step:K.end`: before the first event of a step, or after its last.
struct AtStep {
  std::uint64_t number = 0;
  bool end = false;
  bool operator==(const AtStep&) const = default;
};
/// `peak`: at the first event where reserved memory is highest; each run has its own.
struct AtPeak {
  bool operator==(const AtPeak&) const = default;
};
/// `end`: after everything.
struct AtEnd {
  bool operator==(const AtEnd&) const = default;
};

}  // namespace place

/// A moment of a trace, as users name it: one grammar for all commands and all JSON keys.
using Place = std::variant<place::AtEvent,
                           place::AtRequest,
                           place::AtMark,
                           place::AtStep,
                           place::AtPeak,
                           place::AtEnd>;

/// Reads `event:N`, `request:N`, `mark:TEXT`, `step:K`, `step:K.end`, `peak` or `end`; throws
/// InputError at `where`.
[[nodiscard]] Place parse_place(std::string_view text, const InputPosition& where);

/// Reads `PLACE,PLACE,…`. The text of a mark ends at a comma here.
[[nodiscard]] std::vector<Place> parse_places(std::string_view text, const InputPosition& where);

/// What `parse_place` reads.
[[nodiscard]] std::string to_text(const Place& place);

/// How many of the trace's events have happened at `place`: an index into Trace::events. Nothing
/// for `peak`, which only a run knows. Throws InputError at `where` if the trace has no such place.
[[nodiscard]] std::optional<std::size_t> resolve(const Trace& trace,
                                                 const Place& place,
                                                 const InputPosition& where);

}  // namespace fragcast
