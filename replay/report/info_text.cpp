#include "replay/report/info_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "replay/report/comparison_text.hpp"
#include "replay/report/printable.hpp"
#include "replay/report/table.hpp"
#include "replay/trace/quantity.hpp"

namespace fragcast {
namespace {

std::string count_of(std::uint64_t n, const char* one, const char* many) {
  return fmt::format("{} {}", grouped(static_cast<std::int64_t>(n)), n == 1 ? one : many);
}

struct Requests {
  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
  std::uint64_t failures = 0;
  std::uint64_t with_stack = 0;
  std::set<StreamId> streams;
};

Requests count_requests(const Trace& trace) {
  Requests counted;
  for (const Event& event : trace.events) {
    if (event.kind == EventKind::deallocate) ++counted.frees;
    if (event.kind != EventKind::allocate) continue;
    ++counted.allocations;
    counted.streams.insert(event.stream);
    if (event.failed_in_recording) ++counted.failures;
    if (trace.allocations[event.allocation.index()].stack != StackId{}) ++counted.with_stack;
  }
  return counted;
}

void write_file(const SourceInfo& source, std::ostream& out) {
  std::string text = source.layer;
  if (source.protocol > 0) text += fmt::format(", pickle protocol {}", source.protocol);
  if (!source.wrapping.empty()) text += ", in " + source.wrapping;
  out << fmt::format("  file       {}, {} decompressed\n",
                     text,
                     exact_bytes(Bytes{static_cast<std::int64_t>(source.bytes)}));
}

void write_requests(const Subject& subject, std::ostream& out) {
  const Requests counted = count_requests(subject.trace());
  out << fmt::format("  requests   {}, {}, on {}\n",
                     count_of(counted.allocations, "allocation", "allocations"),
                     count_of(counted.frees, "free", "frees"),
                     count_of(counted.streams.size(), "stream", "streams"));
  if (counted.failures > 0) {
    out << fmt::format("             {} ran out of memory\n",
                       count_of(counted.failures, "request", "requests"));
  }
  out << fmt::format("  stacks     {} of {} allocations have one ({} distinct)\n",
                     grouped(static_cast<std::int64_t>(counted.with_stack)),
                     grouped(static_cast<std::int64_t>(counted.allocations)),
                     grouped(static_cast<std::int64_t>(subject.trace().stacks.stack_count())));
}

void write_recorded(const RecordedHistory& recorded, std::ostream& out) {
  out << fmt::format("  reserved   {} at the start, {} at its peak, {} at the end\n",
                     exact_bytes(recorded.initial_reserved),
                     exact_bytes(recorded.peak_reserved),
                     exact_bytes(recorded.final_reserved));
  out << fmt::format(
      "  device     {}, {}\n",
      count_of(recorded.device_allocs, "allocation or mapping", "allocations or mappings"),
      count_of(recorded.device_frees, "free or unmapping", "frees or unmappings"));
  out << fmt::format("  empty_cache  {}",
                     count_of(recorded.empty_cache_calls.size(), "call", "calls"));
  const char* separator = ": ";
  for (const EmptyCacheCall& call : recorded.empty_cache_calls) {
    out << fmt::format(
        "{}request:{} gave back {}", separator, call.request, human_size(call.released));
    separator = ", ";
  }
  out << '\n';
}

void write_notes(const char* heading, const std::vector<Note>& notes, std::ostream& out) {
  if (notes.empty()) return;
  out << "  " << heading << '\n';
  for (const Note& note : notes) out << "    - " << printable(note.text) << '\n';
}

}  // namespace

void write_info(const Subject& subject, std::ostream& out) {
  write_subject(subject, out);
  write_file(subject.source, out);
  if (!subject.state_only()) write_requests(subject, out);
  if (subject.is_recording()) {
    if (!subject.state_only()) write_recorded(subject.history.recorded, out);
    write_notes("evidence", subject.history.conditions.evidence, out);
  }
  std::vector<Note> anomalies;
  subject.history.anomalies.for_each([&](Anomaly anomaly, std::uint64_t count) {
    const AnomalyText text = describe(anomaly);
    anomalies.push_back(
        {.id = std::string{text.id}, .text = fmt::format("{}x {}", count, text.text)});
  });
  write_notes("anomalies", anomalies, out);
  write_notes("notes", subject.history.notes, out);
  if (subject.state_only() || !subject.trace().initial.empty()) {
    out << (subject.state_only() ? "  the state:\n" : "  the heap it began with:\n");
    write_fragmentation(measure_fragmentation(subject.trace().initial.heap), out);
  }
}

void write_fragmentation(const Fragmentation& parts, std::ostream& out) {
  Table table;
  const auto line = [&](const char* label, Bytes size) {
    table.add({label, human_size(size), exact_bytes(size)});
  };
  line("    reserved", parts.reserved());
  line("      requested", parts.requested);
  line("      rounding", parts.rounding);
  line("      pending", parts.pending);
  line("      pinned", parts.pinned);
  line("      releasable", parts.releasable);
  line("    largest free block", parts.largest_free);
  table.print(out);
}

}  // namespace fragcast
