#pragma once

#include <string>
#include <vector>

#include "replay/search/tune.hpp"

namespace fragcast {

/// How a point compares with what is set now.
enum class AgainstNow : std::uint8_t {
  better,  ///< fails less, or reserves less at its peak; or the same and is cheaper at all prices
  no_worse,
  worse,  ///< fails more, or reserves more; or the same and is dearer at all prices
};
[[nodiscard]] AgainstNow against_now(const Tuning& tuning, const TunedPoint& point);

/// Peak reserved memory over all traces, for people: a size, or percent of what it is now.
[[nodiscard]] std::string describe_peak(const Tuning& tuning, const TunedPoint& point);
/// The difference from now: "same", "-18.0 MiB (-2.8 %)".
[[nodiscard]] std::string describe_change(const Tuning& tuning, const TunedPoint& point);
/// "max_split_size_mb:128", "no settings", and where empty_cache is called if not as given.
[[nodiscard]] std::string describe_choice(const Tuning& tuning, const TunedPoint& point);

/// The recommendation as a line for a shell; empty if there is none.
[[nodiscard]] std::string paste_line(const Tuning& tuning);

/// What a search comes to, in plain sentences: what helps and what it costs, or why nothing does;
/// how far one may rely on it; which advice would do harm.
[[nodiscard]] std::vector<std::string> pass_verdict(const Tuning& tuning);

}  // namespace fragcast
