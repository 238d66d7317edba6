#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "replay/report/expected.hpp"
#include "sim/core/address.hpp"
#include "sim/observe/event_log.hpp"

namespace fragcast {

/// The values in which two answers differ, the first few of them, after what is not comparable was
/// made alike: `told` is the history that the actual one tells. Empty if they are equal then.
/// Nothing if one of them is no JSON.
[[nodiscard]] std::optional<std::vector<AnswerDifference::Value>> differing_values(
    std::string_view expected, std::string_view actual, const EventLog& told);

/// The addresses that two answers differ about: where an allocation went, or the first segment,
/// block or history entry that is not the same.
[[nodiscard]] std::vector<Address> addresses_concerned(std::string_view expected,
                                                       std::string_view actual,
                                                       const EventLog& told);

}  // namespace fragcast
