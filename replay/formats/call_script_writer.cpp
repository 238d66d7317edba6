#include <fmt/format.h>

#include <iterator>
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
        "erase_stream {} {} {}", call.allocation.value(), call.owner.value(), call.stream.value());
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

/// Gathers lines and hands them to the stream in large pieces.
class Writer {
 public:
  Writer(const Trace& trace, std::ostream& output) : trace_{trace}, output_{output} {}

  void write() {
    write_header();
    for (const Event& event : trace_.events) {
      write_event(event);
      if (lines_.size() >= flush_at) flush();
    }
    flush();
  }

 private:
  static constexpr std::size_t flush_at = std::size_t{1} << 16;

  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(lines_), format, std::forward<Arguments>(arguments)...);
    lines_.push_back('\n');
  }

  void flush() {
    output_.write(lines_.data(), static_cast<std::streamsize>(lines_.size()));
    lines_.clear();
  }

  void write_header() {
    const Conditions& conditions = trace_.conditions;
    if (conditions.settings) line("conf {}", *conditions.settings);
    if (conditions.device_memory) line("device_memory {}", conditions.device_memory->count());
    if (conditions.fraction) line("fraction {}", *conditions.fraction);
    if (!conditions.instant_events) line("events deferred");
    if (conditions.soc) line("soc {}", *conditions.soc);
  }

  void write_allocation(const Event& event) {
    const std::size_t index = event.allocation.index();
    const StackId stack =
        index < trace_.allocations.size() ? trace_.allocations[index].stack : StackId{};
    if (stack == StackId{}) {
      line("malloc {} {} {}", event.allocation.value(), event.size.count(), event.stream.value());
    } else {
      line("malloc {} {} {} @{}",
           event.allocation.value(),
           event.size.count(),
           event.stream.value(),
           call_site_text(trace_.stacks, stack));
    }
  }

  void write_event(const Event& event) {
    switch (event.kind) {
      case EventKind::allocate:
        return write_allocation(event);
      case EventKind::deallocate:
        return line("free {}", event.allocation.value());
      case EventKind::record_stream:
        return line("record_stream {} {}", event.allocation.value(), event.stream.value());
      case EventKind::complete_events:
        return line("complete_events {}", event.stream.value());
      case EventKind::complete_all:
        return line("complete_events");
      case EventKind::control:
        return line("{}", std::visit(ControlText{}, trace_.controls[event.detail]));
      case EventKind::snapshot:
        return line("snapshot");
      case EventKind::cache_info:
        return line("cache_info");
      case EventKind::mark:
        return line("mark {}", escape(trace_.labels[event.detail], ""));
      case EventKind::step:
        return line("step");
    }
  }

  const Trace& trace_;
  std::ostream& output_;
  fmt::memory_buffer lines_;
};

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
  Writer{trace, output}.write();
}

}  // namespace fragcast
