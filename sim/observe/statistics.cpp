#include "sim/observe/statistics.hpp"

namespace fragcast {
namespace {

template <class Visitor>
void for_each_stat(Statistics& s, Visitor visit) {
  for (StatByKind* stat : {&s.allocation,
                           &s.segment,
                           &s.active,
                           &s.inactive_split,
                           &s.allocated_bytes,
                           &s.reserved_bytes,
                           &s.active_bytes,
                           &s.inactive_split_bytes,
                           &s.requested_bytes}) {
    visit(stat->all);
    visit(stat->by_kind[0]);
    visit(stat->by_kind[1]);
  }
  visit(s.oversize_allocations);
  visit(s.oversize_segments);
}

}  // namespace

void Statistics::reset_peak() {
  for_each_stat(*this, [](Stat& stat) { stat.reset_peak(); });
}

void Statistics::reset_accumulated() {
  for_each_stat(*this, [](Stat& stat) { stat.reset_accumulated(); });
  num_alloc_retries = 0;
  num_ooms = 0;
  num_oom_rejections = 0;
  num_sync_all_streams = 0;
  num_device_alloc = 0;
  num_device_free = 0;
}

}  // namespace fragcast
