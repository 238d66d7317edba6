#include <fmt/format.h>

#include <ostream>
#include <string>
#include <string_view>

#include "replay/formats/call_script.hpp"
#include "replay/formats/call_site.hpp"
#include "replay/formats/input_error.hpp"

namespace fragcast {
namespace {

/// The line of a control call.
struct ControlText {
  std::string operator()(const control::EmptyCache&) const { return "empty_cache"; }
  std::string operator()(const control::EmptyVirtualAddressCache&) const {
    return "empty_virt_addr_cache";
  }
  std::string operator()(const control::Synchronize&) const { return "sync"; }
  std::string operator()(const control::EraseStream& call) const {
    return fmt::format(
        "erase_stream {} {} {}", call.allocation.value(), call.stream.value(), call.owner.value());
  }
  std::string operator()(const control::PoolCreate& call) const {
    return pool_line("create", call.pool);
  }
  std::string operator()(const control::PoolBegin& call) const {
    return pool_line("begin", call.pool);
  }
  std::string operator()(const control::PoolEnd& call) const { return pool_line("end", call.pool); }
  std::string operator()(const control::PoolRelease& call) const {
    return pool_line("release", call.pool);
  }
  std::string operator()(const control::PoolEmpty& call) const {
    return pool_line("empty", call.pool);
  }
  std::string operator()(const control::PoolUseOnOom& call) const {
    return fmt::format("pool_use_on_oom {} {}", call.pool.value(), call.enabled ? 1 : 0);
  }
  std::string operator()(const control::PoolNoSplit& call) const {
    return fmt::format("pool_no_split {} {}", call.pool.value(), call.enabled ? 1 : 0);
  }
  std::string operator()(const control::CaptureBegin&) const { return "capture_begin"; }
  std::string operator()(const control::CaptureEnd&) const { return "capture_end"; }
  std::string operator()(const control::ChangeSettings& call) const {
    return "settings " + call.text;
  }
  std::string operator()(const control::SetFraction& call) const {
    return fmt::format("set_fraction {}", call.fraction);
  }
  std::string operator()(const control::ResetPeak&) const { return "reset_peak"; }
  std::string operator()(const control::ResetAccumulated&) const { return "reset_accumulated"; }

 private:
  static std::string pool_line(std::string_view call, PoolId pool) {
    return fmt::format("pool_{} {}", call, pool.value());
  }
};

template <class... Arguments>
void append_line(fmt::memory_buffer& lines,
                 fmt::format_string<Arguments...> format,
                 Arguments&&... arguments) {
  fmt::format_to(fmt::appender{lines}, format, std::forward<Arguments>(arguments)...);
  lines.push_back('\n');
}

void append_header(fmt::memory_buffer& lines, const Conditions& conditions) {
  if (conditions.settings) append_line(lines, "conf {}", *conditions.settings);
  if (conditions.device_memory) {
    append_line(lines, "device_memory {}", conditions.device_memory->count());
  }
  if (conditions.fraction) append_line(lines, "fraction {}", *conditions.fraction);
  if (!conditions.instant_events) append_line(lines, "events deferred");
  if (conditions.soc) append_line(lines, "soc {}", *conditions.soc);
}

void append_allocation(fmt::memory_buffer& lines, const Trace& trace, const Event& event) {
  const std::string call = fmt::format(
      "malloc {} {} {}", event.allocation.value(), event.size.count(), event.stream.value());
  const StackId stack = event.allocation.index() < trace.allocations.size()
                            ? trace.allocations[event.allocation.index()].stack
                            : StackId{};
  if (stack == StackId{}) return append_line(lines, "{}", call);
  append_line(lines, "{} @{}", call, call_site_text(trace.stacks, stack));
}

void append_event(fmt::memory_buffer& lines, const Trace& trace, const Event& event) {
  const std::uint32_t id = event.allocation.value();
  const std::uint16_t stream = event.stream.value();
  switch (event.kind) {
    case EventKind::allocate:
      return append_allocation(lines, trace, event);
    case EventKind::deallocate:
      return append_line(lines, "free {}", id);
    case EventKind::record_stream:
      return append_line(lines, "record_stream {} {}", id, stream);
    case EventKind::complete_events:
      return append_line(lines, "complete_events {}", stream);
    case EventKind::complete_all:
      return append_line(lines, "complete_events");
    case EventKind::control:
      return append_line(lines, "{}", std::visit(ControlText{}, trace.controls[event.detail]));
    case EventKind::snapshot:
      return append_line(lines, "snapshot");
    case EventKind::cache_info:
      return append_line(lines, "cache_info");
    case EventKind::mark:
      return append_line(lines, "mark {}", escape(trace.labels[event.detail], ""));
    case EventKind::step:
      return append_line(lines, "step");
  }
}

}  // namespace

void write_call_script(const Trace& trace, std::ostream& output) {
  if (!trace.initial.empty()) {
    throw InputError{{},
                     "a trace that begins with a heap cannot be written as a call script: write it "
                     "as a snapshot"};
  }
  for (const Event& event : trace.events) {
    if (event.failed_in_recording) {
      throw InputError{{},
                       "a recorded out-of-memory holds only its rounded size, which a call script "
                       "cannot say: write the trace as a snapshot"};
    }
  }
  constexpr std::size_t flush_at = std::size_t{1} << 16;
  fmt::memory_buffer lines;
  const auto flush = [&] {
    output.write(lines.data(), static_cast<std::streamsize>(lines.size()));
    lines.clear();
  };
  append_header(lines, trace.conditions);
  for (const Event& event : trace.events) {
    append_event(lines, trace, event);
    if (lines.size() >= flush_at) flush();
  }
  flush();
}

std::string call_line(const Trace& trace, const Event& event) {
  fmt::memory_buffer line;
  append_event(line, trace, event);
  return {line.data(), line.size() - 1};
}

}  // namespace fragcast
