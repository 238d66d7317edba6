#include "replay/transforms/empty_cache.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "replay/transforms/trace_edit.hpp"

namespace fragcast {

bool is_empty_cache(const Trace& trace, const Event& event) {
  if (event.kind != EventKind::control) return false;
  const Control& call = trace.controls[event.detail];
  return std::holds_alternative<control::EmptyCache>(call) ||
         std::holds_alternative<control::PoolEmpty>(call);
}

EmptyCacheChange replace_empty_cache(const Trace& trace, std::vector<std::size_t> positions) {
  std::sort(positions.begin(), positions.end());
  TraceEdit edit{trace};
  EmptyCacheChange change;
  auto next = positions.begin();
  const auto insert_due = [&] {
    for (; next != positions.end() && *next <= edit.position(); ++next, ++change.inserted) {
      edit.insert_empty_cache();
    }
  };
  while (!edit.at_end()) {
    insert_due();
    if (is_empty_cache(trace, edit.next())) {
      edit.drop();
      ++change.dropped;
    } else {
      edit.keep();
    }
  }
  insert_due();
  change.trace = std::move(edit.result());
  return change;
}

}  // namespace fragcast
