#include "replay/report/growth_csv.hpp"

#include <string>

#include "replay/report/csv.hpp"
#include "replay/trace/site.hpp"

namespace fragcast {

void write_growth_csv(const GrowthTable& table, const Trace& trace, std::ostream& out) {
  out << "event,request,step,site,size,need,asked,reserved,requested,rounding,pending,pinned,"
         "releasable,usable,largest_hole,avoidable,reason,last_of_step\n";
  CsvRows rows{out};
  for (const Growth& growth : table.growths) {
    const auto site = call_site(trace.stacks, trace.allocations[growth.allocation.index()].stack);
    rows.add("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
             trace.events[growth.event].source,
             growth.request,
             growth.step,
             csv_field(site ? describe(trace.stacks, *site) : std::string{}),
             growth.size.count(),
             growth.need.count(),
             growth.asked.count(),
             growth.reserved.count(),
             growth.gap.requested.count(),
             growth.gap.rounding.count(),
             growth.gap.pending.count(),
             growth.gap.pinned.count(),
             growth.gap.releasable.count(),
             growth.usable.count(),
             growth.largest_hole.count(),
             growth.avoidable().count(),
             name_of(growth.reason),
             growth.last_of_step ? "yes" : "no");
  }
}

}  // namespace fragcast
