#include "replay/report/comparison_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "replay/report/names.hpp"
#include "replay/report/printable.hpp"
#include "replay/report/table.hpp"
#include "replay/trace/quantity.hpp"

namespace fragcast {
namespace {

constexpr std::size_t columns_at_once = 4;

std::string percent(Bytes part, Bytes whole) {
  if (whole == Bytes{0}) return "-";
  return fmt::format(
      "{:.1f} %", 100.0 * static_cast<double>(part.count()) / static_cast<double>(whole.count()));
}

std::string signed_size(Bytes difference) {
  const bool less = difference < Bytes{0};
  return fmt::format("{}{}", less ? '-' : '+', human_size(less ? -difference : difference));
}

std::string fitted(const Run& run) {
  if (run.failures.empty()) return "yes";
  const auto ours = static_cast<std::size_t>(
      std::count_if(run.failures.begin(), run.failures.end(), [](const auto& f) {
        return !f.failed_in_recording;
      }));
  if (ours == 0) return "no, as recorded";
  return fmt::format("no, {} failed", run.failures.size());
}

/// One part of a comparison's table: rows as columns.
class Columns {
 public:
  Columns(Table& table, const Comparison& comparison, std::span<const ComparedRun> runs)
      : table_{table}, comparison_{comparison}, runs_{runs} {}

  template <class Cell>
  void line(const std::string& label, Cell cell) {
    Table::Row row{label};
    for (const ComparedRun& column : runs_) {
      row.push_back(column.refused() ? "" : cell(column));
    }
    table_.add(std::move(row));
  }

  void size(const std::string& label, const std::function<Bytes(const Run&)>& of) {
    line(label, [&](const ComparedRun& column) { return human_size(of(column.run)); });
  }
  void count(const std::string& label, const std::function<std::int64_t(const Run&)>& of) {
    line(label, [&](const ComparedRun& column) { return grouped(of(column.run)); });
  }

  void print_heads() {
    Table::Row names{""};
    for (const ComparedRun& column : runs_) {
      const bool reference = comparison_.runs.size() > 1 && &column == comparison_.runs.data();
      std::string name = column.run.name;
      for (const std::string& other : column.also) name += " = " + other;
      names.push_back(reference ? name + " *" : name);
    }
    table_.add(std::move(names));
    line("start",
         [](const ComparedRun& c) { return std::string{name_of(c.run.conditions.start)}; });
    line("would have fitted", [](const ComparedRun& c) { return fitted(c.run); });
  }

  void print_amounts() {
    table_.add_heading("peak");
    size("  requested", [](const Run& r) { return r.peak.requested; });
    size("  allocated", [](const Run& r) { return r.peak.allocated; });
    size("  active", [](const Run& r) { return r.peak.active; });
    size("  reserved", [](const Run& r) { return r.peak.reserved; });
    if (comparison_.runs.size() > 1) {
      line("    against reference", [this](const ComparedRun& c) { return against(c); });
    }
    line("efficiency",
         [](const ComparedRun& c) { return percent(c.run.peak.allocated, c.run.peak.reserved); });
    table_.add_heading("at the reserved peak");
    size("  requested", [](const Run& r) { return r.at_peak_reserved.gap.requested; });
    size("  rounding", [](const Run& r) { return r.at_peak_reserved.gap.rounding; });
    size("  pending", [](const Run& r) { return r.at_peak_reserved.gap.pending; });
    size("  pinned", [](const Run& r) { return r.at_peak_reserved.gap.pinned; });
    size("  releasable", [](const Run& r) { return r.at_peak_reserved.gap.releasable; });
    table_.add_heading("at the end");
    size("  allocated", [](const Run& r) { return r.final.allocated; });
    size("  reserved", [](const Run& r) { return r.final.reserved; });
  }

  void print_calls() {
    table_.add_heading("device calls");
    count("  allocations", [](const Run& r) { return r.counts.device_allocs; });
    count("  frees", [](const Run& r) { return r.counts.device_frees; });
    count("  stretches mapped", [](const Run& r) { return r.counts.maps; });
    count("  stretches unmapped", [](const Run& r) { return r.counts.unmaps; });
    count("  synchronisations", [](const Run& r) { return r.counts.syncs; });
    line(comparison_.pricing.is_guess() ? "device time (a guess)" : "estimated device time",
         [](const ComparedRun& c) { return human_cost(*c.cost); });
    count("retries", [](const Run& r) { return r.counts.alloc_retries; });
    count("out of memory", [](const Run& r) { return r.counts.ooms + r.counts.oom_rejections; });
    count("empty_cache calls", [](const Run& r) { return r.counts.empty_caches; });
  }

 private:
  [[nodiscard]] std::string against(const ComparedRun& column) const {
    if (!column.difference) return "*";
    const Run& reference = comparison_.runs[column.difference->reference].run;
    const Bytes difference = column.difference->peak_reserved;
    if (difference == Bytes{0}) return "same";
    return fmt::format(
        "{} ({})", signed_size(difference), percent(difference, reference.peak.reserved));
  }

  Table& table_;
  const Comparison& comparison_;
  std::span<const ComparedRun> runs_;
};

void write_table(const Comparison& comparison, std::ostream& out) {
  const std::span<const ComparedRun> runs{comparison.runs};
  for (std::size_t first = 0; first < runs.size(); first += columns_at_once) {
    Table table;
    Columns columns{
        table, comparison, runs.subspan(first, std::min(columns_at_once, runs.size() - first))};
    columns.print_heads();
    columns.print_amounts();
    columns.print_calls();
    table.print(out);
    out << '\n';
  }
}

/// What each name in the table stands for, and whose prices it is made with.
void write_rows(const Comparison& comparison, std::ostream& out) {
  for (const ComparedRun& row : comparison.runs) {
    const std::string& settings = row.run.conditions.settings;
    if (settings != row.run.name) {
      out << fmt::format("  {}: {}\n",
                         printable(row.run.name),
                         settings.empty() ? "no settings" : printable(settings));
    }
    for (const std::string& warning : row.run.warnings) {
      out << fmt::format("  {}: warning: {}\n", printable(row.run.name), printable(warning));
    }
    for (const Note& note : row.diagnostics) {
      // Of a refused row they stand in the verdict, beside the reason.
      if (row.refused()) break;
      out << fmt::format("  {}: note: {}\n", printable(row.run.name), printable(note.text));
    }
  }
  const RunConditions& conditions = comparison.runs.front().run.conditions;
  if (conditions.device_memory && conditions.others > Bytes{0}) {
    out << fmt::format("  others hold {} of the device\n", human_size(conditions.others));
  }
  out << fmt::format(
      "  device time: the calls alone, at prices of {}; waiting for the device comes on top\n",
      describe(comparison.pricing));
}

void write_pins(const Comparison& comparison, std::ostream& out) {
  bool headed = false;
  for (const ComparedRun& row : comparison.runs) {
    for (const Pin& pin : row.pins) {
      if (!headed) out << "Who pins most at the reserved peak (segments or pages held alone)\n";
      headed = true;
      const CallStacks& stacks = comparison.subject->trace().stacks;
      out << fmt::format(
          "  {}: {} beside {} of {}, in {}\n",
          printable(row.run.name),
          human_size(pin.free),
          human_size(pin.held),
          pin.site ? printable(describe(stacks, *pin.site)) : "blocks without a stack",
          pin.segments);
    }
  }
  if (headed) out << '\n';
}

/// What was live, or waiting for events, when the trace began.
struct LiveStart {
  std::int64_t live = 0;
  std::int64_t pending = 0;
  Bytes requested;
  Bytes reserved;
};

LiveStart live_start(const Subject& subject) {
  LiveStart start;
  for (const SegmentPicture& segment : subject.trace().initial.heap.segments) {
    start.reserved += segment.size;
    for (const BlockPicture& block : segment.blocks) {
      if (block.state == BlockState::free) continue;
      if (block.state == BlockState::pending) {
        ++start.pending;
      } else {
        ++start.live;
        start.requested += block.requested;
      }
    }
  }
  return start;
}

}  // namespace

void write_subject(const Subject& subject, std::ostream& out) {
  const LiveStart start = live_start(subject);
  const auto known = static_cast<std::int64_t>(subject.trace().allocations.size());
  out << fmt::format("{}, device {}: {}, {} events, {} allocations\n",
                     printable(subject.source.file),
                     subject.device,
                     subject.source.layer,
                     grouped(static_cast<std::int64_t>(subject.events)),
                     grouped(known - start.live - start.pending));
  if (subject.is_recording()) {
    const std::string settings = subject.trace().conditions.settings.value_or("");
    out << fmt::format("  recorded under {}, {}\n",
                       subject.history.conditions.model,
                       settings.empty() ? "default settings" : printable(settings));
  }
  if (start.reserved > Bytes{0}) {
    out << fmt::format("  {}, {} blocks are live: {} requested in {} reserved{}\n",
                       subject.state_only() ? "in the state" : "when it begins",
                       grouped(start.live),
                       human_size(start.requested),
                       human_size(start.reserved),
                       start.pending > 0
                           ? fmt::format(", {} freed ones wait for events", grouped(start.pending))
                           : "");
  }
  for (const Note& note : subject.notes) out << "  " << printable(note.text) << '\n';
}

std::string describe(const Verification& verification) {
  if (!verification.refusal.empty()) return printable(verification.refusal);
  const auto share = [](const Score& score, const char* what) {
    return fmt::format("{} of {} {}",
                       grouped(static_cast<std::int64_t>(score.equal)),
                       grouped(static_cast<std::int64_t>(score.of)),
                       what);
  };
  std::string text = fmt::format("{}, {}",
                                 share(verification.segment_events, "segment events"),
                                 share(verification.addresses, "addresses"));
  if (verification.failures.of > 0) text += ", " + share(verification.failures, "failures");
  return text;
}

void write_text(const Comparison& comparison,
                TextDetail detail,
                Emphasis emphasis,
                std::ostream& out) {
  if (detail == TextDetail::full) {
    write_subject(*comparison.subject, out);
    if (comparison.fidelity) {
      out << "  recorded settings reproduced: " << describe(*comparison.fidelity) << '\n';
    }
    out << '\n';
    write_table(comparison, out);
    write_rows(comparison, out);
    out << '\n';
    write_pins(comparison, out);
  }
  for (const std::string& sentence : comparison.verdict) {
    out << strong(printable(sentence), emphasis) << '\n';
  }
}

}  // namespace fragcast
