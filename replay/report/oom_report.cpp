#include "replay/report/oom_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "replay/report/printable.hpp"
#include "replay/report/table.hpp"
#include "replay/trace/quantity.hpp"

namespace fragcast {
namespace {

/// Sizes for people.
std::string text_of(const std::optional<SizeRange>& range) {
  return range ? range_text(*range) : "-";
}

std::string writer_text(const FoundOom& found) {
  return found.writer.empty() ? "-" : printable(found.writer);
}

std::string where_text(const OomReport& report, const FoundOom& found) {
  return report.logs.size() > 1 ? fmt::format("{}:{}", printable(found.file), found.line)
                                : fmt::format("line {}", found.line);
}

std::string causes_text(const OomJudgement& judged) {
  std::string text;
  for (const OomFinding& finding : judged.findings) {
    text += fmt::format(
        "{}{}{}", text.empty() ? "" : ", ", name_of(finding.cause), finding.certain ? "" : " (?)");
  }
  return text;
}

void write_rows(const OomReport& report, std::ostream& out) {
  Table table;
  table.add({"where", "who", "time", "device", "times", "tried", "free", "reach", "why"});
  for (std::size_t i = 0; i < report.messages.size(); ++i) {
    const ExplainedOom& oom = report.messages[i];
    const OomMessage& message = oom.found.message;
    const auto& asked = message.printed(OomFigure::tried) ? message.printed(OomFigure::tried)
                                                          : message.printed(OomFigure::requested);
    const auto& free = message.printed(OomFigure::free);
    table.add({where_text(report, oom.found) + (i == 0 ? " *" : ""),
               writer_text(oom.found),
               oom.found.time.empty() ? "-" : oom.found.time,
               message.device ? std::to_string(*message.device) : "-",
               grouped(static_cast<std::int64_t>(oom.found.times)),
               asked ? asked->text : "-",
               free ? free->text : "-",
               text_of(oom.judged.best),
               causes_text(oom.judged)});
  }
  table.print(out);
  out << fmt::format("  *: the first, by {}; reach: the most that any setting could reach\n\n",
                     report.ordered_by_time ? "the log's times" : "its place in the log");
}

void write_amount(Table& table, std::string label, const std::optional<SizeRange>& range) {
  if (range) table.add({std::move(label), range_text(*range)});
}

void write_figures(const ExplainedOom& oom, std::ostream& out) {
  Table table;
  for (std::size_t i = 0; i < oom_figure_count; ++i) {
    const auto figure = static_cast<OomFigure>(i);
    const auto& printed = oom.found.message.printed(figure);
    if (!printed) continue;
    table.add({fmt::format("  {}", label_of(figure)),
               printed->impossible ? printed->text + " (impossible)" : printed->text});
  }
  if (oom.found.message.figure_count() == 0) return;
  const OomJudgement& judged = oom.judged;
  table.add_heading("  from these, as bounds");
  write_amount(table, "    reserved", judged.reserved);
  write_amount(table, "    reserved and not allocated", judged.cached);
  write_amount(table, "    freed, but used by other streams", judged.pending);
  // Below zero only by rounding, unless there is a remark on it.
  const bool by_rounding = judged.others && judged.others->most >= 0_B;
  write_amount(table,
               "    held outside this allocator",
               by_rounding ? std::optional{at_least_zero(*judged.others)} : judged.others);
  write_amount(table, "    the request itself", judged.request);
  write_amount(table, "    the most that any setting could reach", judged.best);
  write_amount(table, "      within the limit", judged.best_within_limit);
  table.print(out);
}

void write_findings(const OomJudgement& judged, Emphasis emphasis, std::ostream& out) {
  for (std::size_t i = 0; i < judged.findings.size(); ++i) {
    const OomFinding& finding = judged.findings[i];
    std::string head{name_of(finding.cause)};
    if (finding.bytes) head += fmt::format(", {}", range_text(*finding.bytes));
    if (!finding.certain) head += " (within rounding: it may be, or not)";
    out << (i == 0 ? strong(head, emphasis) : head) << ": " << finding.evidence << ".\n";
    if (!finding.threshold.empty()) out << "  because " << finding.threshold << '\n';
    out << "  next: " << finding.next << '\n';
  }
}

void write_one(const OomReport& report,
               const ExplainedOom& oom,
               Emphasis emphasis,
               std::ostream& out) {
  const FoundOom& found = oom.found;
  out << fmt::format("{}, {}{}: a message of {}{}\n",
                     printable(found.file),
                     fmt::format("line {}", found.line),
                     found.writer.empty() ? "" : ", " + printable(found.writer),
                     allocator_of(found.message.wording),
                     found.times > 1 ? fmt::format(", {} times", found.times) : "");
  write_figures(oom, out);
  out << '\n';
  for (const std::string& remark : oom.judged.remarks) out << "note: " << remark << '\n';
  write_findings(oom.judged, emphasis, out);
  if (oom.trace) {
    out << "\nagainst " << printable(report.trace) << '\n';
    for (const std::string& sentence : oom.trace->verdict) out << sentence << '\n';
  }
}

void write_notes(const OomReport& report, std::ostream& out) {
  for (const OomLog& log : report.logs) {
    if (log.mentions > 0) {
      out << fmt::format(
          "note: {}: lines that mention it without figures: {}, the first is line {}\n",
          printable(log.file),
          log.mentions,
          log.first_mention);
    }
    if (log.not_kept > 0) {
      out << fmt::format(
          "note: {}: {} further messages are left out\n", printable(log.file), log.not_kept);
    }
    if (!log.cut.empty()) {
      out << fmt::format("note: {}: {} is cut off\n", printable(log.file), log.cut);
    }
  }
}

}  // namespace

OomReport explain(std::vector<OomLog> logs, const OomThresholds& thresholds) {
  OomReport report{.logs = std::move(logs), .messages = {}, .thresholds = thresholds, .trace = {}};
  for (OomLog& log : report.logs) {
    for (FoundOom& found : log.found) {
      OomJudgement judged = judge(found.message, thresholds);
      report.messages.push_back(
          {.found = std::move(found), .judged = std::move(judged), .trace = {}});
    }
    log.found.clear();
  }
  auto& messages = report.messages;
  // Times with and without a year do not compare.
  const auto has_year = [](const ExplainedOom& oom) { return oom.found.time.find('-') == 4; };
  report.ordered_by_time =
      !messages.empty() && std::all_of(messages.begin(), messages.end(), [&](const auto& oom) {
        return !oom.found.time.empty() && has_year(oom) == has_year(messages.front());
      });
  if (report.ordered_by_time) {
    std::stable_sort(messages.begin(), messages.end(), [](const auto& a, const auto& b) {
      return a.found.time < b.found.time;
    });
  }
  return report;
}

void write_oom(const OomReport& report, OomDetail detail, Emphasis emphasis, std::ostream& out) {
  if (report.messages.empty()) return;
  if (detail == OomDetail::verdict) {
    write_findings(report.messages.front().judged, emphasis, out);
    return;
  }
  if (report.messages.size() > 1) write_rows(report, out);
  const std::size_t shown = detail == OomDetail::all ? report.messages.size() : 1;
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) out << '\n';
    write_one(report, report.messages[i], emphasis, out);
  }
  out << fmt::format(
      "\ncalled large: held outside above {:.4g} of the total (--outside-above), other streams "
      "{:.4g} (--streams-above), private pools {:.4g} (--pools-above)\n",
      report.thresholds.outside,
      report.thresholds.streams,
      report.thresholds.private_pools);
  write_notes(report, out);
}

}  // namespace fragcast
