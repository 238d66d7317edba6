#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "replay/explain/oom.hpp"
#include "replay/explain/oom_trace.hpp"
#include "replay/formats/oom_text.hpp"
#include "replay/report/emphasis.hpp"

namespace fragcast {

/// A message, what follows from it, and how a trace takes it.
struct ExplainedOom {
  FoundOom found;
  OomJudgement judged;
  std::optional<OomTraceCheck> trace;
};

/// What logs say about running out of memory.
struct OomReport {
  /// Without their messages.
  std::vector<OomLog> logs;
  /// The first to happen comes first.
  std::vector<ExplainedOom> messages;
  /// By the logs' own times; otherwise in the order of files and lines.
  bool ordered_by_time = false;
  OomThresholds thresholds;
  /// What messages were checked against, such as "snapshot.pickle, device 0"; empty if nothing.
  std::string trace;
};

/// Explains all messages of the logs, and brings them into order.
[[nodiscard]] OomReport explain(std::vector<OomLog> logs, const OomThresholds& thresholds);

enum class OomDetail : std::uint8_t {
  first,  ///< a row for each message, and all about the first
  all,    ///< all about each
  verdict,
};

void write_oom(const OomReport& report, OomDetail detail, Emphasis emphasis, std::ostream& out);
/// Schema fragcast.oom, version 1.
void write_json(const OomReport& report, std::ostream& out);

}  // namespace fragcast
