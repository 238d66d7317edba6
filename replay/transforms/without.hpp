#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "replay/formats/input_error.hpp"
#include "replay/trace/trace.hpp"

namespace fragcast {

/// A call site whose allocations are to be other than they were: "what if this leak were fixed?"
struct WithoutSite {
  /// A part of what `describe` says of the call site, such as `train.py:12` or `train.py:12
  /// forward`.
  std::string site;
  enum class Instead : std::uint8_t {
    never,        ///< they do not happen
    at_step_end,  ///< they are freed at the end of their step, if not before
  } instead = Instead::never;
};

/// Reads `SITE` or `SITE:step-end`; throws InputError at `where`.
[[nodiscard]] WithoutSite parse_without(std::string_view text, const InputPosition& where);
[[nodiscard]] std::string to_text(const WithoutSite& without);

/// The trace without them. What was live before the first event stays. Throws InputError at `where`
/// if no allocation has such a call site, or steps are needed and there are none.
[[nodiscard]] Trace without_site(const Trace& trace,
                                 const WithoutSite& without,
                                 const InputPosition& where);

/// The trace without what step `number` (from 1) made and freed again, or asked for in vain: an
/// extreme step left out.
/// What outlives the step stays, as the steps behind it need it; so do its frees of older
/// allocations. Throws InputError at `where` if there is no such step.
[[nodiscard]] Trace without_step(const Trace& trace,
                                 std::size_t number,
                                 const InputPosition& where);

}  // namespace fragcast
