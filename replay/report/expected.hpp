#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/engine/session.hpp"
#include "replay/formats/call_script.hpp"

namespace fragcast {

/// Where a replay first answers otherwise than a recording, with what is needed to see why.
struct AnswerDifference {
  /// Of the call; −1 for the conditions.
  std::int64_t op = 0;
  /// As a call script would have it; empty for the conditions and the end.
  std::string call;
  /// One value that differs. An absent one is empty.
  struct Value {
    /// `addr`, `stats.num_ooms`, `segments[2].blocks[0][1]`, …
    std::string path;
    std::string expected;
    std::string actual;
  };
  /// The first few, in order; empty where one of the lines is no JSON.
  std::vector<Value> values;
  /// The lines as they are; empty where there is none.
  std::string expected;
  std::string actual;
  /// The replayed heap before the call, around the addresses concerned.
  std::string heap;
};

/// The difference for people, over several lines.
[[nodiscard]] std::string describe(const AnswerDifference& difference);

/// What a comparison of answers came to.
struct AnswerComparison {
  /// Lines that were compared, the one that differs included.
  std::size_t lines = 0;
  std::optional<AnswerDifference> difference;
};

/// How often a replay checks the model's invariants.
struct CheckInterval {
  /// In events; 0: never.
  std::size_t events = 0;
};

/// Replays `trace` and compares its answers with recorded ones, line by line as text, up to the
/// first difference. A recording may answer only some calls; all of its lines must be met in order.
///
/// Not compared is what the real allocators leave to a hash map: within a run of segments and pages
/// given back, the order between private pools.
///
/// Throws InputError, naming `file`, for a line that is no answer, and InvariantError where the
/// model's own check fails.
[[nodiscard]] AnswerComparison compare_answers(const Trace& trace,
                                               const RunConditions& conditions,
                                               const LineSource& next_expected,
                                               const std::string& file,
                                               CheckInterval checks = {});

/// The same with the answers of a file, compressed or not.
[[nodiscard]] AnswerComparison compare_answers(const Trace& trace,
                                               const RunConditions& conditions,
                                               const std::string& answers_file,
                                               CheckInterval checks = {});

}  // namespace fragcast
