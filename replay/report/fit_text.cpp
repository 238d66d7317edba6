#include "replay/report/fit_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>

#include "replay/report/comparison_text.hpp"
#include "replay/report/names.hpp"
#include "replay/report/printable.hpp"
#include "replay/report/table.hpp"
#include "replay/trace/quantity.hpp"

namespace fragcast {
namespace {

constexpr std::size_t columns_at_once = 4;

std::string size_or_none(std::optional<Bytes> size) {
  return size ? fmt::format("{} MiB", grouped(*size / 1_MiB)) : "none found";
}

void write_columns(const FitStudy& study, std::span<const FitRow> rows, std::ostream& out) {
  Table table;
  const auto line = [&](const char* label, const std::function<std::string(const FitRow&)>& cell) {
    Table::Row cells{label};
    for (const FitRow& row : rows) cells.push_back(row.refusal.empty() ? cell(row) : "");
    table.add(std::move(cells));
  };
  const auto at_least = [&](const char* label,
                            const std::function<std::string(const FitPoint&)>& cell) {
    line(label, [&](const FitRow& row) {
      const FitPoint* point = row.at(row.least);
      return point == nullptr ? std::string{"-"} : cell(*point);
    });
  };
  Table::Row heads{""};
  for (const FitRow& row : rows) {
    std::string name = printable(row.name);
    for (const std::string& other : row.also) name += " = " + printable(other);
    heads.push_back(std::move(name));
  }
  table.add(std::move(heads));
  line("start", [](const FitRow& row) { return std::string{name_of(row.start)}; });
  line("no size below works", [](const FitRow& row) { return size_or_none(row.bound); });
  line("least, with retries", [](const FitRow& row) { return size_or_none(row.least); });
  line("least, without retries",
       [](const FitRow& row) { return size_or_none(row.least_without_retries); });
  line("reserved where memory is plentiful",
       [](const FitRow& row) { return human_size(row.peak_reserved); });
  table.add_heading("at the least size");
  at_least("  retries", [](const FitPoint& point) { return grouped(point.retries); });
  at_least("  synchronisations", [](const FitPoint& point) { return grouped(point.syncs); });
  at_least("  device allocations", [](const FitPoint& p) { return grouped(p.device_allocs); });
  at_least(study.pricing.is_guess() ? "  device time (a guess)" : "  estimated device time",
           [](const FitPoint& point) { return human_cost(point.cost); });
  line("sizes tried", [](const FitRow& row) {
    return fmt::format("{}{}",
                       grouped(static_cast<std::int64_t>(row.tried.size())),
                       row.exhaustive ? ", all" : "");
  });
  line("of them fail above the least", [](const FitRow& row) {
    return grouped(std::count_if(row.tried.begin(), row.tried.end(), [&](const FitPoint& point) {
      return row.least && point.device_memory > *row.least && !point.completes;
    }));
  });
  table.print(out);
  out << '\n';
}

}  // namespace

void write_fit(const FitStudy& study, Emphasis emphasis, std::ostream& out) {
  write_subject(*study.subject, out);
  if (study.others > Bytes{0}) {
    out << fmt::format("  {} of the device are held by others\n", human_size(study.others));
  }
  if (study.fraction) {
    out << fmt::format("  the allocator may use a fraction of {} of the device\n", *study.fraction);
  }
  out << '\n';
  const std::span<const FitRow> rows{study.rows};
  for (std::size_t first = 0; first < rows.size(); first += columns_at_once) {
    write_columns(study, rows.subspan(first, std::min(columns_at_once, rows.size() - first)), out);
  }
  for (const FitRow& row : rows) {
    if (row.refusal.empty()) continue;
    out << fmt::format("  {} is refused: {}\n", printable(row.name), printable(row.refusal));
  }
  for (const FitRow& row : rows) {
    if (row.exhaustive || !row.refusal.empty()) continue;
    out << fmt::format(
        "  {}: tried are all sizes within 32 MiB of the least ones, and a grid from what is live "
        "to what is plentiful; between the grid's sizes nothing is known\n",
        printable(row.name));
  }
  out << fmt::format(
      "  device time: the calls alone, at prices of {}; waiting for the device comes on top\n\n",
      describe(study.pricing));
  write_verdict(study, emphasis, out);
}

void write_verdict(const FitStudy& study, Emphasis emphasis, std::ostream& out) {
  for (std::size_t i = 0; i < study.verdict.size(); ++i) {
    const std::string sentence = printable(study.verdict[i]);
    out << (i == 0 ? strong(sentence, emphasis) : sentence) << '\n';
  }
}

}  // namespace fragcast
