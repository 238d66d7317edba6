#include "replay/search/best_place.hpp"

#include <algorithm>
#include <span>
#include <tuple>
#include <vector>

#include "replay/engine/parallel.hpp"
#include "replay/engine/replay.hpp"
#include "replay/engine/session.hpp"
#include "replay/transforms/empty_cache.hpp"

namespace fragcast {
namespace {

constexpr std::size_t most_places = 64;
/// Places tried at a time; what they find bounds the next ones.
constexpr std::size_t round_size = 16;

/// A place for a call: after so many events.
struct Candidate {
  std::size_t position = 0;
  Bytes unused;
};

/// What makes one run better than another; less is better.
struct Score {
  bool fails = false;
  Bytes peak_reserved;
  std::int64_t device_allocs = 0;

  [[nodiscard]] auto key() const { return std::tuple{fails, peak_reserved, device_allocs}; }
};

Score score_of(const Run& run) {
  return {.fails = fails_anew(run),
          .peak_reserved = run.peak.reserved,
          .device_allocs = run.counts.device_allocs};
}

/// Between growths, where most is unused; those of most first.
std::vector<Candidate> candidates(const Run& run) {
  std::vector<Candidate> found;
  Candidate best;
  for (std::size_t i = 0; i < run.series.size(); ++i) {
    const Usage& usage = run.series[i];
    if (i > 0 && usage.reserved > run.series[i - 1].reserved) {
      if (best.unused > Bytes{0}) found.push_back(best);
      best = {};
    }
    const Bytes unused = usage.reserved - usage.allocated;
    if (unused > best.unused) best = {.position = i + 1, .unused = unused};
  }
  std::stable_sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
    return a.unused > b.unused;
  });
  if (found.size() > most_places) found.resize(most_places);
  return found;
}

std::uint64_t requests_before(const Trace& trace, std::size_t position) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < position; ++i) {
    const EventKind kind = trace.events[i].kind;
    if (kind == EventKind::allocate || kind == EventKind::deallocate) ++count;
  }
  return count;
}

}  // namespace

BestPlace find_best_place(const Trace& trace,
                          const RunSpec& spec,
                          const Run& without_calls,
                          unsigned threads) {
  const std::vector<Candidate> places = candidates(without_calls);
  BestPlace best{.request = {}, .tried = places.size()};
  Score least = score_of(without_calls);
  least.device_allocs = 0;  // Without a lower peak a call is of no use.
  std::size_t position = 0;
  for (std::size_t first = 0; first < places.size(); first += round_size) {
    const std::span<const Candidate> round =
        std::span{places}.subspan(first, std::min(round_size, places.size() - first));
    const Score bound = least;
    const auto beaten = [&](const Session& session) {
      return !bound.fails && session.totals().peak.reserved > bound.peak_reserved;
    };
    const auto runs = parallel_map(round.size(), threads, [&](std::size_t i) {
      return replay_unless(replace_empty_cache(trace, {round[i].position}).trace, spec, beaten);
    });
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (!runs[i]) continue;
      const Score score = score_of(*runs[i]);
      const bool earlier = score.key() == least.key() && round[i].position < position;
      if (!earlier && !(score.key() < least.key())) continue;
      least = score;
      position = round[i].position;
    }
  }
  if (position > 0) best.request = requests_before(trace, position);
  return best;
}

}  // namespace fragcast
