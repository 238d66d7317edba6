#include "replay/compare/remarks.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "policies/caching/diagnostics.hpp"

namespace fragcast {
namespace {

void note_request(TraceFacts& facts, Bytes size) {
  facts.largest_request = std::max(facts.largest_request, size);
  const auto bytes = static_cast<std::uint64_t>(size.count());
  if (std::has_single_bit(bytes)) facts.powers_of_two |= bytes;
}

bool changes_settings(const Control& call) {
  return std::holds_alternative<control::ChangeSettings>(call) ||
         std::holds_alternative<control::SetFraction>(call);
}

}  // namespace

// AddPadSize() of torch_npu: 32 bytes, on all chips before Ascend950.
Bytes padding_of(const RunConditions& conditions) {
  const bool pads = conditions.model->vendor == Vendor::npu && conditions.soc != Soc::ascend950;
  return pads ? 32_B : 0_B;
}

std::optional<Bytes> limit_of(const RunConditions& conditions) {
  std::optional<double> fraction = conditions.fraction;
  if (!fraction) {
    const auto settings = read_settings(conditions.release(), conditions.settings);
    if (settings && settings->per_process_memory_fraction < 1.0) {
      fraction = settings->per_process_memory_fraction;
    }
  }
  const bool limits = fraction && (*fraction < 1.0 || conditions.model->vendor == Vendor::cuda);
  if (!limits) return std::nullopt;
  return Bytes{static_cast<std::int64_t>(*fraction *
                                         static_cast<double>(conditions.device_total().count()))};
}

TraceFacts facts_of(const Trace& trace) {
  TraceFacts facts;
  for (const SegmentPicture& segment : trace.initial.heap.segments) {
    facts.largest_initial_segment = std::max(facts.largest_initial_segment, segment.size);
    for (const BlockPicture& block : segment.blocks) {
      if (block.allocation) note_request(facts, block.requested);
    }
  }
  for (const Event& event : trace.events) {
    if (event.kind != EventKind::allocate) continue;
    if (event.failed_in_recording) {
      // Its size is a rounded one.
      facts.largest_request = std::max(facts.largest_request, event.size);
    } else {
      note_request(facts, event.size);
    }
  }
  facts.changes_at_run_time =
      std::any_of(trace.controls.begin(), trace.controls.end(), changes_settings);
  return facts;
}

std::vector<Note> remarks_on(const RunConditions& conditions, const TraceFacts& facts) {
  const bool warm = conditions.start == Start::warm;
  std::vector<Note> notes;
  for (SettingsRemark& remark :
       diagnose({.model = conditions.model,
       .release = &conditions.release(),
       .text = conditions.settings,
       .padding = padding_of(conditions),
       .device_total = conditions.device_total(),
       .device_is_limited = conditions.device_memory.has_value(),
       .limit = limit_of(conditions),
       .largest_request = facts.largest_request,
       .largest_initial_segment = warm ? facts.largest_initial_segment : 0_B,
       .powers_of_two = facts.powers_of_two,
       .changes_at_run_time = facts.changes_at_run_time})) {
    notes.push_back({.id = std::string{remark.id}, .text = std::move(remark.text)});
  }
  return notes;
}

}  // namespace fragcast
