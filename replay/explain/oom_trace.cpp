#include "replay/explain/oom_trace.hpp"

#include <fmt/format.h>

#include <array>

#include "replay/explain/oom.hpp"
#include "replay/formats/oom_text.hpp"
#include "replay/trace/place.hpp"

namespace fragcast {
namespace {

/// What two messages, perhaps worded by different releases, can be compared by.
struct Comparable {
  OomFigure figure;
  std::optional<SizeRange> size;
};

std::array<Comparable, 8> comparables(const OomMessage& message) {
  const OomJudgement judged = judge(message);
  const auto printed = [&](OomFigure figure) {
    return Comparable{.figure = figure, .size = message.figure(figure)};
  };
  return {{printed(OomFigure::tried),
           printed(OomFigure::requested),
           printed(OomFigure::total),
           printed(OomFigure::free),
           printed(OomFigure::allowed),
           printed(OomFigure::active),
           {.figure = OomFigure::allocated, .size = judged.allocated},
           {.figure = OomFigure::reserved, .size = judged.reserved}}};
}

struct Compared {
  std::uint64_t figures = 0;
  std::vector<OomDifference> differences;
};

Compared compare(const OomMessage& message, const OomMessage& simulated, const Subject& subject) {
  Compared result;
  const auto ours = comparables(message);
  const auto theirs = comparables(simulated);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (!ours[i].size || !theirs[i].size) continue;
    if (ours[i].figure == OomFigure::total && subject.is_recording()) continue;
    ++result.figures;
    if (ours[i].size->overlaps(*theirs[i].size)) continue;
    result.differences.push_back(
        {.figure = ours[i].figure, .message = *ours[i].size, .replay = *theirs[i].size});
  }
  return result;
}

std::string place_of(const FailedRequest& failure, const Subject& subject) {
  if (!failure.event) return {};
  const Event& event = subject.trace().events[failure.event->index()];
  return to_text(place::AtEvent{event.source});
}

/// Which of two candidates is closer to the message.
bool is_closer(const Compared& a, std::uint64_t figures, const OomCandidate& b) {
  const auto agreeing =
      static_cast<std::int64_t>(a.figures) - static_cast<std::int64_t>(a.differences.size());
  return agreeing >
         static_cast<std::int64_t>(figures) - static_cast<std::int64_t>(b.differences.size());
}

std::string describe(const OomDifference& difference) {
  return fmt::format("{} is {} in the message and {} in the replay",
                     label_of(difference.figure),
                     range_text(difference.message),
                     range_text(difference.replay));
}

std::vector<std::string> verdict_of(const OomTraceCheck& check) {
  std::vector<std::string> verdict;
  if (check.agreeing.size() == 1) {
    verdict.push_back(fmt::format("The message agrees with {} in all {} figures compared.",
                                  check.agreeing.front().place,
                                  check.compared));
  } else if (check.agrees()) {
    verdict.push_back(
        fmt::format("The message agrees with {} requests that fail, from {} to {}: it does not "
                    "tell which of them it is about.",
                    check.agreeing.size(),
                    check.agreeing.front().place,
                    check.agreeing.back().place));
  } else if (check.closest) {
    std::string text = fmt::format(
        "The message agrees with none of {} requests that fail; closest "
        "is {}: ",
        check.failures,
        check.closest->place);
    for (std::size_t i = 0; i < check.closest->differences.size(); ++i) {
      text += (i == 0 ? "" : "; ") + describe(check.closest->differences[i]);
    }
    verdict.push_back(text + ".");
  } else {
    verdict.emplace_back(
        "No request of the trace fails in a replay under its recorded settings, so nothing agrees "
        "with the message.");
  }
  if (check.only_recorded > 0) {
    verdict.push_back(fmt::format(
        "{} requests failed in the recording and are served in the replay: their figures are not "
        "known.",
        check.only_recorded));
  }
  return verdict;
}

}  // namespace

OomTraceCheck check_against(const OomMessage& message, const Subject& subject, const Run& run) {
  OomTraceCheck check;
  check.failures = run.failures.size();
  check.only_recorded = static_cast<std::uint64_t>(run.recorded_failures_served);
  for (const FailedRequest& failure : run.failures) {
    const auto simulated = parse_oom(failure.message);
    if (!simulated) continue;
    Compared compared = compare(message, *simulated, subject);
    if (compared.figures == 0) continue;
    OomCandidate candidate{.place = place_of(failure, subject),
                           .failed_in_recording = failure.failed_in_recording,
                           .differences = {}};
    if (compared.differences.empty()) {
      check.compared = compared.figures;
      check.agreeing.push_back(std::move(candidate));
    } else if (!check.closest ||
               (!check.agrees() && is_closer(compared, check.compared, *check.closest))) {
      check.compared = check.agrees() ? check.compared : compared.figures;
      candidate.differences = std::move(compared.differences);
      check.closest = std::move(candidate);
    }
  }
  if (check.agrees()) check.closest.reset();
  check.verdict = verdict_of(check);
  return check;
}

}  // namespace fragcast
