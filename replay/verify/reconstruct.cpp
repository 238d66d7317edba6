#include "replay/verify/reconstruct.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "policies/registry.hpp"
#include "replay/verify/refine_start.hpp"
#include "replay/verify/verify.hpp"

namespace fragcast {
namespace {

/// Entries gone through in all attempts together: some seconds.
constexpr std::size_t most_work = 4'000'000;
/// How many runs before a divergence may be the reason for it.
constexpr std::size_t suspects = 4;

/// What a run may have been instead, likely ones first.
std::vector<RunCause> alternatives(const JudgedRun& run) {
  // Completions alone: most requests see them by themselves, one with lazy reclaim only if it finds
  // nothing without them.
  if (run.cause == RunCause::none) return {RunCause::empty_cache};
  std::vector<RunCause> all{RunCause::empty_cache, RunCause::own_partial, RunCause::own_flush};
  if (run.of_one_pool) all.push_back(RunCause::pool_empty);
  all.erase(std::remove(all.begin(), all.end(), run.cause), all.end());
  return all;
}

/// A reading of the history, and where a replay of it goes astray.
struct Reading {
  RunVerdicts verdicts;
  Normalised history;
  std::optional<std::uint32_t> astray_at;
};

class Reconstruction {
 public:
  Reconstruction(const Recording& recording,
                 const RecordedDevice& device,
                 const StatedConditions& stated)
      : recording_{recording}, device_{device}, stated_{stated} {}

  Normalised run() {
    Reading reading{.verdicts = {}, .history = normalised({}), .astray_at = {}};
    model_ = find_model(reading.history.conditions.model);
    const RecordedHistory& recorded = reading.history.recorded;
    if (model_ == nullptr || reading.history.kind == HistoryKind::state_only ||
        (recorded.runs.empty() && recorded.uncertain_sizes.empty())) {
      return std::move(reading.history);
    }
    replay_it(reading);
    while (reading.astray_at && improve(reading)) continue;
    if (!reading.verdicts.empty()) {
      reading.history.notes.push_back(
          {.id = "releases_by_replay",
           .text = fmt::format("{} times, entries leave open why memory was given back; taken for "
                               "what lets a replay do what was recorded",
                               reading.verdicts.size())});
    }
    return std::move(reading.history);
  }

 private:
  [[nodiscard]] Normalised normalised(const RunVerdicts& verdicts) const {
    return normalise(recording_, device_, stated_, verdicts);
  }
  void replay_it(Reading& reading);
  bool improve(Reading& reading);
  bool try_instead(Reading& reading, std::uint32_t run, RunCause cause);

  const Recording& recording_;
  const RecordedDevice& device_;
  const StatedConditions& stated_;
  const ModelEntry* model_ = nullptr;
  std::size_t work_ = 0;
};

void Reconstruction::replay_it(Reading& reading) {
  work_ += device_.entries.size();
  refine_start(reading.history, *model_);
  const Verification seen = verify(reading.history, *model_);
  reading.astray_at.reset();
  if (seen.first) reading.astray_at = seen.first->entry;
}

/// Takes one of the runs before the divergence for something else; false if nothing helps.
bool Reconstruction::improve(Reading& reading) {
  const std::vector<JudgedRun> runs = reading.history.recorded.runs;
  auto behind = std::upper_bound(
      runs.begin(), runs.end(), *reading.astray_at, [](std::uint32_t entry, const JudgedRun& run) {
        return entry < run.entry;
      });
  for (std::size_t tried = 0; tried < suspects && behind != runs.begin(); ++tried) {
    --behind;
    for (const RunCause cause : alternatives(*behind)) {
      if (try_instead(reading, behind->entry, cause)) return true;
    }
  }
  return false;
}

bool Reconstruction::try_instead(Reading& reading, std::uint32_t run, RunCause cause) {
  if (work_ >= most_work) return false;
  Reading other{.verdicts = reading.verdicts, .history = {}, .astray_at = {}};
  other.verdicts[run] = cause;
  other.history = normalised(other.verdicts);
  replay_it(other);
  if (other.astray_at && *other.astray_at <= *reading.astray_at) return false;
  reading = std::move(other);
  return true;
}

}  // namespace

Normalised reconstruct(const Recording& recording,
                       const RecordedDevice& device,
                       const StatedConditions& stated) {
  return Reconstruction{recording, device, stated}.run();
}

}  // namespace fragcast
