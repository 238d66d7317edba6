#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "replay/engine/run_spec.hpp"
#include "replay/trace/place.hpp"
#include "replay/trace/trace.hpp"

namespace fragcast {

/// When a program might call `empty_cache`.
namespace emptying {

/// At a place.
struct At {
  Place place;
};
/// `every:N`: after every N-th request.
struct Every {
  std::uint64_t requests = 0;
};
/// `step-end`, `step-end:every=K`: at the end of every (K-th) step.
struct StepEnd {
  std::uint64_t every = 1;
};
/// `before-step:longest`: before the step that needs most memory.
struct BeforeLongestStep {};
/// `when:gap>SIZE`: at the end of a step where reserved memory exceeds allocated by more than that,
/// as a policy in the training loop would.
struct WhenGap {
  Bytes above;
};
/// `when:utilisation<R`: at the end of a step where allocated is less than R, 0..1, of reserved.
struct WhenUtilisation {
  double below = 0;
};
/// `marker:TEXT`: at every mark of that text.
struct Marker {
  std::string text;
};

}  // namespace emptying

using Emptying = std::variant<emptying::At,
                              emptying::Every,
                              emptying::StepEnd,
                              emptying::BeforeLongestStep,
                              emptying::WhenGap,
                              emptying::WhenUtilisation,
                              emptying::Marker>;

/// Reads `WHEN,WHEN,…`; none for `none`. The text of a mark ends at a comma. Throws
/// InputError at `where`.
[[nodiscard]] std::vector<Emptying> parse_emptyings(std::string_view text,
                                                    const InputPosition& where);

/// What `parse_emptyings` reads; `none` for none.
[[nodiscard]] std::string to_text(const std::vector<Emptying>& emptyings);

/// Whether where the calls go depends on the run: on its settings and its device.
[[nodiscard]] bool depend_on_run(const std::vector<Emptying>& emptyings);

/// After how many of the trace's events the calls come, ascending, each once. `trace` has no calls
/// of its own; `spec` is what emptyings that depend on the run are tried under, with the calls that
/// they make. Throws InputError at `where` where the trace has no such place, or no steps.
[[nodiscard]] std::vector<std::size_t> positions_of(const Trace& trace,
                                                    const std::vector<Emptying>& emptyings,
                                                    const RunSpec& spec,
                                                    const InputPosition& where);

}  // namespace fragcast
