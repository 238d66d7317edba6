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
/// How many of a run's releases, at its end, may be of another cause than those before.
constexpr std::uint32_t most_own = 3;

/// What a run may have been instead, likely ones first.
std::vector<RunCause> alternatives(const JudgedRun& run) {
  // Completions alone: most requests see them by themselves, one with lazy reclaim only if it finds
  // nothing without them; and some are of a flush that found nothing to give back.
  if (run.cause == RunCause::none) return {RunCause::empty_cache, RunCause::own_flush};
  std::vector<RunCause> all{RunCause::empty_cache, RunCause::own_partial, RunCause::own_flush};
  if (run.of_one_pool) all.push_back(RunCause::pool_empty);
  all.erase(std::remove(all.begin(), all.end(), run.cause), all.end());
  return all;
}

/// The verdicts that would have the run explained otherwise, likely ones first.
std::vector<RunVerdicts> other_verdicts(const RunVerdicts& verdicts, const JudgedRun& run) {
  std::vector<RunVerdicts> all;
  for (const RunCause cause : alternatives(run)) {
    all.push_back(verdicts);
    all.back().causes[run.entry] = cause;
  }
  // The flush completed the free before it, too.
  if (run.free_before) {
    all.push_back(verdicts);
    all.back().late_frees.insert(*run.free_before);
    all.back().causes[run.entry] = RunCause::own_flush;
  }
  // The program emptied the cache, and the request then took back the last segments by itself.
  for (std::uint32_t own = 1; own < run.releases && own <= most_own; ++own) {
    all.push_back(verdicts);
    all.back().begins.insert(run.entry + 1 - own);
    all.back().causes[run.entry - own] = RunCause::empty_cache;
    all.back().causes[run.entry] = RunCause::own_partial;
  }
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
    if (reading.verdicts.count() > 0) {
      reading.history.notes.push_back(
          {.id = "releases_by_replay",
           .text = fmt::format("entries leave open why memory was given back: {} decisions were "
                               "made for what lets a replay do what was recorded",
                               reading.verdicts.count())});
    }
    return std::move(reading.history);
  }

 private:
  [[nodiscard]] Normalised normalised(const RunVerdicts& verdicts) const {
    return normalise(recording_, device_, stated_, verdicts);
  }
  void replay_it(Reading& reading);
  bool improve(Reading& reading);
  bool try_instead(Reading& reading, const RunVerdicts& verdicts);

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
    for (const RunVerdicts& verdicts : other_verdicts(reading.verdicts, *behind)) {
      if (try_instead(reading, verdicts)) return true;
    }
  }
  return false;
}

bool Reconstruction::try_instead(Reading& reading, const RunVerdicts& verdicts) {
  if (work_ >= most_work) return false;
  Reading other{.verdicts = verdicts, .history = normalised(verdicts), .astray_at = {}};
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
