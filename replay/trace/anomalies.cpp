#include "replay/trace/anomalies.hpp"

#include <numeric>

namespace fragcast {

AnomalyText describe(Anomaly anomaly) {
  switch (anomaly) {
    case Anomaly::allocation_gone:
      return {"allocation_gone",
              "allocations that the final state lacks although nothing freed them: the state is "
              "newer than the history"};
    case Anomaly::allocation_replaced:
      return {
          "allocation_replaced",
          "allocations whose block holds another request in the final state: the state is newer "
          "than the history"};
    case Anomaly::allocation_later:
      return {"allocation_later",
              "blocks of the final state that lie where the history had others: taken as allocated "
              "after it ended"};
    case Anomaly::free_undone:
      return {"free_undone",
              "freed blocks that are live in the final state: taken as allocated again after the "
              "history ended"};
    case Anomaly::completion_missing:
      return {"completion_missing",
              "frees that were never completed although the final state does not show them as "
              "pending"};
    case Anomaly::segment_gone:
      return {"segment_gone",
              "segments that the final state lacks although nothing gave them back: the state is "
              "newer than the history"};
    case Anomaly::segment_back:
      return {"segment_back",
              "segments given back that the final state still has: taken as made again after the "
              "history ended"};
    case Anomaly::completion_alone:
      return {"completion_alone",
              "frees completed whose request is in no entry: the blocks were already freed, and "
              "pending, when the history begins"};
    case Anomaly::block_without_segment:
      return {"block_without_segment",
              "blocks that lie in no known segment: each got a segment of its own"};
    case Anomaly::block_does_not_fit:
      return {"block_does_not_fit",
              "blocks of the start that, rounded, would reach into their neighbour: padding or "
              "rounding are not what was assumed"};
    case Anomaly::free_of_unknown:
      return {"free_of_unknown", "frees of addresses where nothing was live: left out"};
    case Anomaly::allocation_over_live:
      return {"allocation_over_live",
              "allocations at the address of a live block: that block was taken as freed"};
    case Anomaly::release_unexplained:
      return {
          "release_unexplained",
          "runs of released memory that left some behind and that no request explains: taken as "
          "empty_cache calls"};
    case Anomaly::streams_exhausted:
      return {"streams_exhausted",
              "frees that waited for events while too many others did: taken as complete at once"};
  }
  return {};
}

std::uint64_t AnomalyCounts::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

}  // namespace fragcast
