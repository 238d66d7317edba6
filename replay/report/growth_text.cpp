#include "replay/report/growth_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "replay/report/info_text.hpp"
#include "replay/report/printable.hpp"
#include "replay/report/table.hpp"
#include "replay/trace/quantity.hpp"
#include "replay/trace/site.hpp"

namespace fragcast {
namespace {

constexpr std::size_t holes_shown = 6;

std::string site_of(const Trace& trace, AllocationId allocation) {
  const auto site = call_site(trace.stacks, trace.allocations[allocation.index()].stack);
  return site ? printable(describe(trace.stacks, *site)) : std::string{"no stack"};
}

std::string reason_of(const Growth& growth) {
  std::string text{name_of(growth.reason)};
  if (growth.reason == GrowthReason::no_hole_fits) {
    text += fmt::format(", short by {}", human_size(growth.short_by()));
  }
  return text;
}

Bytes gap_of(const Growth& growth) { return growth.reserved - growth.gap.requested; }

/// Those of the step, or of all; no more than `top`, those that ask for most.
std::vector<std::size_t> chosen(const GrowthTable& table, const GrowthSelection& selection) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < table.growths.size(); ++i) {
    if (!selection.step || table.growths[i].step == *selection.step) rows.push_back(i);
  }
  if (rows.size() <= selection.top) return rows;
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return table.growths[a].asked > table.growths[b].asked;
  });
  rows.resize(selection.top);
  std::sort(rows.begin(), rows.end());
  return rows;
}

void write_rows(const GrowthTable& table,
                const Trace& trace,
                const std::vector<std::size_t>& rows,
                std::ostream& out) {
  Table lines;
  lines.add({"request",
             "step",
             "size",
             "asked",
             "reserved",
             "gap",
             "rounding",
             "pending",
             "pinned",
             "releasable",
             "usable",
             "largest hole",
             "avoidable",
             "reason",
             "site"});
  for (const std::size_t i : rows) {
    const Growth& growth = table.growths[i];
    lines.add({fmt::format("{}{}{}",
                           growth.request,
                           growth.last_of_step ? " <" : "",
                           i == table.greatest_gap ? " !" : ""),
               trace.steps.empty() ? "" : std::to_string(growth.step),
               human_size(growth.size),
               human_size(growth.asked),
               human_size(growth.reserved),
               human_size(gap_of(growth)),
               human_size(growth.gap.rounding),
               human_size(growth.gap.pending),
               human_size(growth.gap.pinned),
               human_size(growth.gap.releasable),
               human_size(growth.usable),
               human_size(growth.largest_hole),
               human_size(growth.avoidable()),
               reason_of(growth),
               site_of(trace, growth.allocation)});
  }
  lines.print(out);
  out << "  reserved, gap, usable, largest hole: before the request; <: last of its step; !: the "
         "greatest gap\n";
}

void write_steps(const GrowthTable& table, std::ostream& out) {
  if (table.per_step.size() < 2) return;
  out << fmt::format("  growths by step: {} before",
                     grouped(static_cast<std::int64_t>(table.per_step.front())));
  for (std::size_t i = 1; i < table.per_step.size(); ++i) {
    out << fmt::format(", {}", grouped(static_cast<std::int64_t>(table.per_step[i])));
  }
  const bool settles = table.per_step.back() == 0;
  out << fmt::format("; {}\n",
                     settles ? "it settles: the last step asks for nothing more"
                             : "it has not settled when the trace ends");
}

/// A free block, and the blocks before and behind it; null at a segment's border.
struct Hole {
  const SegmentPicture* segment = nullptr;
  const BlockPicture* block = nullptr;
  const BlockPicture* before = nullptr;
  const BlockPicture* behind = nullptr;
};

std::vector<Hole> largest_holes(const Layout& heap) {
  std::vector<Hole> holes;
  for (const SegmentPicture& segment : heap.segments) {
    for (std::size_t i = 0; i < segment.blocks.size(); ++i) {
      const BlockPicture& block = segment.blocks[i];
      if (block.state != BlockState::free) continue;
      holes.push_back({.segment = &segment,
                       .block = &block,
                       .before = i > 0 ? &segment.blocks[i - 1] : nullptr,
                       .behind = i + 1 < segment.blocks.size() ? &segment.blocks[i + 1] : nullptr});
    }
  }
  std::stable_sort(holes.begin(), holes.end(), [](const Hole& a, const Hole& b) {
    return a.block->size > b.block->size;
  });
  if (holes.size() > holes_shown) holes.resize(holes_shown);
  return holes;
}

std::string neighbour(const Trace& trace, const BlockPicture* block) {
  if (block == nullptr) return "the border";
  return fmt::format("{} {}{}",
                     human_size(block->size),
                     block->allocation ? site_of(trace, *block->allocation) : "free",
                     block->state == BlockState::pending ? " (pending)" : "");
}

}  // namespace

void write_growths(const GrowthTable& table,
                   const Trace& trace,
                   const GrowthSelection& selection,
                   std::ostream& out) {
  const std::vector<std::size_t> rows = chosen(table, selection);
  out << fmt::format("{} growths of reserved memory, {} shown\n\n",
                     grouped(static_cast<std::int64_t>(table.growths.size())),
                     grouped(static_cast<std::int64_t>(rows.size())));
  if (!rows.empty()) write_rows(table, trace, rows, out);
  write_steps(table, out);
  Bytes asked;
  Bytes avoidable;
  for (const Growth& growth : table.growths) {
    asked += growth.asked;
    avoidable += growth.avoidable();
  }
  out << fmt::format(
      "  {} asked for in all, {} of that more than the pools lacked (avoidable: asked less what "
      "the "
      "request needs beyond what is usable)\n",
      human_size(asked),
      human_size(avoidable));
}

void write_growth(const Growth& growth, const Trace& trace, const Layout& heap, std::ostream& out) {
  out << fmt::format("request:{}: {} wanted ({} with padding and rounding), in {}\n",
                     growth.request,
                     exact_bytes(growth.size),
                     exact_bytes(growth.need),
                     site_of(trace, growth.allocation));
  out << fmt::format("  asked of the device: {}; avoidable: {}; {}\n",
                     exact_bytes(growth.asked),
                     exact_bytes(growth.avoidable()),
                     reason_of(growth));
  out << fmt::format("  usable: {}; largest hole: {}\nbefore it:\n",
                     exact_bytes(growth.usable),
                     exact_bytes(growth.largest_hole));
  write_fragmentation(growth.gap, out);
  out << "the largest holes, wherever they are:\n";
  for (const Hole& hole : largest_holes(heap)) {
    out << fmt::format("  {} at {:#x}, {} pool, stream {}: between {} and {}\n",
                       human_size(hole.block->size),
                       hole.block->address.value(),
                       hole.segment->kind == PoolKind::small ? "small" : "large",
                       hole.segment->stream.value(),
                       neighbour(trace, hole.before),
                       neighbour(trace, hole.behind));
  }
}

}  // namespace fragcast
