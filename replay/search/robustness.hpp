#pragma once

#include <string_view>
#include <vector>

#include "replay/search/standing.hpp"
#include "replay/search/workload.hpp"

namespace fragcast {

/// Two choices under other circumstances than those that one was found to be better in.
struct Robustness {
  std::string_view id;
  /// For people.
  std::string_view name;
  TunedPoint now;
  TunedPoint recommended;
};

/// Tries both with the initial blocks placed in order of address and largest first, where there are
/// any; with requests 1 % larger and smaller; and, where it is known, with 95 % of the device's
/// memory. On up to `threads` threads (0: one per core).
[[nodiscard]] std::vector<Robustness> check_robustness(const Workload& workload,
                                                       const Choice& now,
                                                       const Choice& recommended,
                                                       unsigned threads);

}  // namespace fragcast
