#include "replay/report/placements_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "replay/report/comparison_text.hpp"
#include "replay/report/names.hpp"
#include "replay/report/printable.hpp"
#include "replay/report/table.hpp"
#include "replay/trace/quantity.hpp"

namespace fragcast {
namespace {

/// Of one placement; what comes between is told in a line.
constexpr std::size_t calls_shown = 8;

/// What calls give back: "0 B", "12.0 MiB", or from the least to the most.
std::string per_call(const TriedPlacement& tried) {
  if (tried.calls.empty()) return "";
  const auto [least, most] =
      std::minmax_element(tried.calls.begin(), tried.calls.end(), [](const auto& a, const auto& b) {
        return a.given_back < b.given_back;
      });
  if (least->given_back == most->given_back) return human_size(least->given_back);
  return fmt::format("{}..{}", human_size(least->given_back), human_size(most->given_back));
}

/// What others may have of a device of known size.
std::string left(const RunConditions& conditions, Bytes reserved) {
  if (!conditions.device_memory) return "";
  return human_size(std::max(*conditions.device_memory - conditions.others - reserved, Bytes{0}));
}

std::string signed_count(std::int64_t count) {
  return count == 0 ? "0" : fmt::format("{}{}", count < 0 ? "-" : "+", grouped(std::abs(count)));
}

void write_table(const PlacementStudy& study, std::ostream& out) {
  const Run& none = study.tried.front().run;
  const bool limited = none.conditions.device_memory.has_value();
  Table table;
  Table::Row heads{"empty_cache at",
                   "calls",
                   "peak reserved",
                   "mean",
                   "given back",
                   "per call",
                   "asked again",
                   "device allocs",
                   "syncs",
                   study.pricing.is_guess() ? "device time (a guess)" : "estimated device time",
                   "retries",
                   "fits"};
  if (limited) heads.insert(heads.end(), {"free, least", "mean"});
  table.add(std::move(heads));
  for (std::size_t i = 0; i < study.tried.size(); ++i) {
    const TriedPlacement& tried = study.tried[i];
    const Run& run = tried.run;
    Table::Row row{
        fmt::format("{}{}", printable(tried.placement.name), i == study.recommended ? " *" : ""),
        grouped(static_cast<std::int64_t>(tried.calls.size())),
        human_size(run.peak.reserved),
        human_size(tried.mean_reserved),
        human_size(tried.given_back()),
        per_call(tried),
        signed_count(run.counts.device_allocs - none.counts.device_allocs),
        grouped(run.counts.device_allocs),
        grouped(run.counts.syncs),
        human_cost(tried.cost),
        grouped(run.counts.alloc_retries),
        run.failures.empty() ? "yes"
        : fails_anew(run)    ? "no"
                             : "no, as recorded"};
    if (limited) {
      row.push_back(left(run.conditions, run.peak.reserved));
      row.push_back(left(run.conditions, tried.mean_reserved));
    }
    table.add(std::move(row));
  }
  table.print(out);
  out << fmt::format(
      "  *: recommended; asked again: device allocations beyond those without a call; mean: over "
      "requests\n  device time: the calls alone, at prices of {}; waiting for the device comes on "
      "top\n",
      describe(study.pricing));
  for (const TriedPlacement& tried : study.tried) {
    if (tried.also.empty()) continue;
    out << fmt::format("  the same calls: {}", printable(tried.placement.name));
    for (const std::string& name : tried.also) out << " = " << printable(name);
    out << '\n';
  }
  out << fmt::format("  best single place: {} tried\n\n",
                     grouped(static_cast<std::int64_t>(study.best_place.tried)));
}

void write_calls(const TriedPlacement& tried, const Steps& steps, std::ostream& out) {
  out << fmt::format("Calls, {}\n", printable(tried.placement.name));
  const std::size_t shown = std::min(tried.calls.size(), calls_shown);
  for (std::size_t i = 0; i < shown; ++i) {
    const EmptyingCall& call = tried.calls[i];
    out << fmt::format("  after request:{}{}: {} given back, {} asked for again\n",
                       call.request,
                       steps.empty()   ? ""
                       : call.step > 0 ? fmt::format(", step {}", call.step)
                                       : ", before step 1",
                       human_size(call.given_back),
                       human_size(call.asked_again));
  }
  if (shown < tried.calls.size()) {
    out << fmt::format("  and {} more\n",
                       grouped(static_cast<std::int64_t>(tried.calls.size() - shown)));
  }
  out << '\n';
}

/// The calls of what is recommended and of what was recorded.
void write_calls(const PlacementStudy& study, std::ostream& out) {
  for (std::size_t i = 0; i < study.tried.size(); ++i) {
    const TriedPlacement& tried = study.tried[i];
    const bool recorded = std::holds_alternative<KeepEmptyCache>(tried.placement.plan);
    if (tried.calls.empty() || (i != study.recommended && !recorded)) continue;
    write_calls(tried, study.trace_of(tried).steps, out);
  }
}

void write_pins(const PlacementStudy& study, std::ostream& out) {
  bool headed = false;
  for (const TriedPlacement& tried : study.tried) {
    if (tried.calls_in_vain() == 0) continue;
    if (!headed) out << "Calls that give back nothing\n";
    headed = true;
    out << fmt::format("  {}: {} of {}\n",
                       printable(tried.placement.name),
                       grouped(static_cast<std::int64_t>(tried.calls_in_vain())),
                       grouped(static_cast<std::int64_t>(tried.calls.size())));
    for (const Pin& pin : tried.pins) {
      const CallStacks& stacks = study.trace_of(tried).stacks;
      out << fmt::format(
          "    the first: {} free are pinned by {} of {}, in {}\n",
          human_size(pin.free),
          human_size(pin.held),
          pin.site ? printable(describe(stacks, *pin.site)) : std::string{"blocks without a stack"},
          pin.segments == 1 ? std::string{"one segment or page"}
                            : fmt::format("{} segments or pages", pin.segments));
    }
  }
  if (headed) out << '\n';
}

}  // namespace

void write_placements(const PlacementStudy& study, Emphasis emphasis, std::ostream& out) {
  write_subject(*study.subject, out);
  const RunConditions& conditions = study.tried.front().run.conditions;
  out << fmt::format(
      "  simulated under {}, {} start\n\n",
      conditions.settings.empty() ? "default settings" : printable(conditions.settings),
      name_of(conditions.start));
  write_table(study, out);
  write_calls(study, out);
  write_pins(study, out);
  write_verdict(study, emphasis, out);
}

void write_verdict(const PlacementStudy& study, Emphasis emphasis, std::ostream& out) {
  for (std::size_t i = 0; i < study.verdict.size(); ++i) {
    const std::string sentence = printable(study.verdict[i]);
    out << (i == 0 ? strong(sentence, emphasis) : sentence) << '\n';
  }
}

}  // namespace fragcast
