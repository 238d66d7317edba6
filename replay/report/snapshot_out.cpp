#include "replay/report/snapshot_out.hpp"

#include "replay/engine/record_run.hpp"
#include "replay/formats/snapshot_writer.hpp"

namespace fragcast {

void write_snapshot(const Subject& subject, const PreparedRun& prepared, std::ostream& output) {
  const Trace& trace = prepared.trace();
  const Recording recording =
      record_run(trace,
                 resolve_conditions(trace, prepared.spec()),
                 {.device = subject.device, .names = subject.history.names});
  write_snapshot(recording, trace.stacks, output);
}

}  // namespace fragcast
