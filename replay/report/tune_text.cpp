#include "replay/report/tune_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "replay/report/printable.hpp"
#include "replay/report/table.hpp"
#include "replay/search/tune_verdict.hpp"
#include "replay/trace/quantity.hpp"

namespace fragcast {
namespace {

/// Of a front that has more points, those that reserve least, the cheapest among them or not.
constexpr std::size_t front_shown = 10;

std::string_view name_of(Objective objective) {
  switch (objective) {
    case Objective::memory:
      return "least peak reserved, then least device time";
    case Objective::time:
      return "least device time, then least peak reserved";
    case Objective::balanced:
      return "least device time within 5 % of the least peak reserved";
  }
  return {};
}

std::int64_t sum(const TunedPoint& point, std::int64_t TunedRun::*member) {
  std::int64_t total = 0;
  for (const TunedRun& run : point.runs) total += run.*member;
  return total;
}

/// The columns that all tables share, behind the first.
Table::Row figures(const Tuning& tuning, std::string name, const TunedPoint& point) {
  const std::int64_t failures = point.standing.failures;
  return {std::move(name),
          failures == 0 ? "yes" : fmt::format("no, {} failed", grouped(failures)),
          describe_peak(tuning, point),
          describe_change(tuning, point),
          human_cost(point.standing.cost),
          grouped(sum(point, &TunedRun::device_allocs)),
          grouped(sum(point, &TunedRun::device_frees)),
          grouped(point.standing.cost.waits),
          grouped(sum(point, &TunedRun::retries))};
}

Table::Row heads(const Tuning& tuning, std::string first) {
  return {std::move(first),
          "fits",
          "peak reserved",
          "against now",
          tuning.pricing.is_guess() ? "device time (a guess)" : "estimated device time",
          "allocs",
          "frees",
          "waits",
          "retries"};
}

std::string indented(const std::string& text) { return "  " + printable(text); }

void write_search(const Tuning& tuning, std::ostream& out) {
  out << fmt::format("  {} points in {} rounds, {} of them given up when they were beaten\n",
                     grouped(tuning.tried),
                     grouped(tuning.rounds),
                     grouped(tuning.abandoned));
  out << fmt::format("  wanted: completes; then {}\n\n", name_of(tuning.objective));
}

void write_front(const Tuning& tuning, std::ostream& out) {
  Table table;
  table.add(heads(tuning, "now"));
  if (tuning.recorded) table.add(figures(tuning, "  as recorded", *tuning.recorded));
  const bool differ = tuning.recorded.has_value();
  table.add(figures(tuning, differ ? "  started cold *" : "  as given *", tuning.now));
  table.add_blank();
  table.add_heading("what nothing beats");
  const std::size_t shown = std::min(front_shown, tuning.front.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const TunedPoint& point = tuning.front[i];
    table.add(figures(tuning, indented(describe_choice(tuning, point)), point));
  }
  table.print(out);
  if (shown < tuning.front.size()) {
    out << fmt::format("  and {} more that reserve more and cost less\n",
                       tuning.front.size() - shown);
  }
  out << fmt::format(
      "\n  device time: the calls alone, at prices of {}; waiting for the device comes on top\n\n",
      describe(tuning.pricing));
}

void write_traces(const Tuning& tuning, std::ostream& out) {
  if (tuning.subjects.size() < 2) return;
  Table table;
  table.add({"peak reserved by trace",
             "most live at once",
             "now",
             tuning.recommended ? "recommended" : ""});
  for (std::size_t i = 0; i < tuning.subjects.size(); ++i) {
    const Subject& subject = *tuning.subjects[i];
    table.add({indented(fmt::format("{}, device {}", subject.source.file, subject.device)),
               human_size(tuning.live_peak[i]),
               human_size(tuning.now.runs[i].peak_reserved),
               tuning.recommended ? human_size(tuning.recommended->runs[i].peak_reserved) : ""});
  }
  table.print(out);
  out << '\n';
}

std::string with_failures(const Tuning& tuning, const TunedPoint& point) {
  const std::int64_t failures = point.standing.failures;
  return failures == 0 ? describe_peak(tuning, point)
                       : fmt::format("{}, {} failed", describe_peak(tuning, point), failures);
}

void write_robustness(const Tuning& tuning, std::ostream& out) {
  if (tuning.robustness.empty()) return;
  Table table;
  table.add({"the recommendation elsewhere", "now", "recommended", "now", "recommended"});
  for (const Robustness& one : tuning.robustness) {
    table.add({indented(std::string{one.name}),
               with_failures(tuning, one.now),
               with_failures(tuning, one.recommended),
               human_cost(one.now.standing.cost),
               human_cost(one.recommended.standing.cost)});
  }
  table.print(out);
  out << '\n';
}

std::string_view name_of(AgainstNow against) {
  switch (against) {
    case AgainstNow::better:
      return "better";
    case AgainstNow::no_worse:
      return "no better";
    case AgainstNow::worse:
      return "worse";
  }
  return {};
}

void write_advice(const Tuning& tuning, std::ostream& out) {
  Table table;
  table.add({"advice in circulation", "", "peak reserved", "against now", "device time"});
  for (const AdvisedSetting& advised : tuning.advised) {
    if (!advised.point) continue;
    const TunedPoint& point = *advised.point;
    table.add({indented(advised.name),
               std::string{name_of(against_now(tuning, point))},
               with_failures(tuning, point),
               describe_change(tuning, point),
               human_cost(point.standing.cost)});
  }
  table.print(out);
  out << '\n';
}

}  // namespace

void write_text(const Tuning& tuning, TextDetail detail, Emphasis emphasis, std::ostream& out) {
  if (detail == TextDetail::full) {
    for (const Subject* subject : tuning.subjects) write_subject(*subject, out);
    write_search(tuning, out);
    write_front(tuning, out);
    write_traces(tuning, out);
    write_robustness(tuning, out);
    write_advice(tuning, out);
  }
  for (const std::string& sentence : tuning.verdict) {
    out << strong(printable(sentence), emphasis) << '\n';
  }
  if (!tuning.recommended) return;
  out << '\n' << strong(printable(paste_line(tuning)), emphasis) << '\n';
  if (tuning.recommended->empty_cache != tuning.now.empty_cache) {
    out << strong(printable("# empty_cache: " + tuning.recommended->empty_cache), emphasis) << '\n';
  }
}

}  // namespace fragcast
