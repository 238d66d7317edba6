#include "replay/report/answers.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "replay/formats/call_script.hpp"

namespace fragcast {
namespace {

/// What an event is called: the word that it has in a script.
std::string kind_of(const Event& event, const Trace& trace) {
  if (event.kind == EventKind::allocate) return "malloc";
  if (event.kind == EventKind::deallocate) return "free";
  std::string line = call_line(trace, event);
  line.resize(std::min(line.find(' '), line.size()));
  return line;
}

/// torch_npu's number of the chip.
std::int64_t number_of(Soc soc) {
  switch (soc) {
    case Soc::ascend910b:
      return 220;
    case Soc::ascend950:
      return 260;
  }
  return 0;
}

std::string_view name_of(LogAction action) {
  switch (action) {
    case LogAction::alloc:
      return "alloc";
    case LogAction::free_requested:
      return "free_requested";
    case LogAction::free_completed:
      return "free_completed";
    case LogAction::segment_alloc:
      return "segment_alloc";
    case LogAction::segment_free:
      return "segment_free";
    case LogAction::segment_map:
      return "segment_map";
    case LogAction::segment_unmap:
      return "segment_unmap";
    case LogAction::oom:
      return "oom";
    case LogAction::snapshot:
      return "snapshot";
  }
  return {};
}

/// A block that is held back is not called active.
std::string_view name_of(BlockState state) {
  switch (state) {
    case BlockState::allocated:
      return "active_allocated";
    case BlockState::pending:
      return "active_pending_free";
    case BlockState::held_back:
    case BlockState::free:
      return "inactive";
  }
  return {};
}

std::string_view name_of(bool value) { return value ? "true" : "false"; }

/// Sums over the blocks of a segment, as snapshots have them.
struct SegmentSums {
  Bytes allocated;
  Bytes active;
  Bytes requested;
};

SegmentSums sums_of(const SegmentPicture& segment) {
  SegmentSums sums;
  for (const BlockPicture& block : segment.blocks) {
    const bool allocated = block.state == BlockState::allocated;
    if (allocated) sums.allocated += block.size;
    if (allocated || block.state == BlockState::pending) {
      sums.active += block.size;
      sums.requested += block.requested;
    }
  }
  return sums;
}

void write_current_and_peak(JsonText& line, std::string_view key, const Stat& stat) {
  line.raw(key).number(stat.current).raw(",").number(stat.peak).raw("]");
}

void write_all(JsonText& line, const Stat& stat) {
  line.raw("[").number(stat.current).raw(",").number(stat.peak);
  line.raw(",").number(stat.allocated).raw(",").number(stat.freed).raw("]");
}

void write_by_kind(JsonText& line, std::string_view key, const StatByKind& stat) {
  line.raw(key);
  write_all(line, stat.all);
  line.raw(",");
  write_all(line, stat.small());
  line.raw(",");
  write_all(line, stat.large());
  line.raw("]");
}

void write_block(JsonText& line, const BlockPicture& block) {
  line.raw("[").number(block.address.value()).raw(",").number(block.size.count());
  line.raw(",").number(block.requested.count()).raw(",\"").raw(name_of(block.state)).raw("\"]");
}

void write_segment(JsonText& line, const SegmentPicture& segment) {
  const SegmentSums sums = sums_of(segment);
  const std::string_view kind = segment.kind == PoolKind::small ? "small" : "large";
  line.raw(R"({"address":)").number(segment.address.value());
  line.raw(R"(,"total_size":)").number(segment.size.count());
  line.raw(R"(,"stream":)").number(std::int64_t{segment.stream.value()});
  line.raw(R"(,"segment_type":")").raw(kind);
  line.raw(R"(","is_expandable":)").raw(name_of(segment.expandable()));
  line.raw(R"(,"pool":)").number(std::int64_t{segment.pool.value()});
  line.raw(R"(,"allocated_size":)").number(sums.allocated.count());
  line.raw(R"(,"active_size":)").number(sums.active.count());
  line.raw(R"(,"requested_size":)").number(sums.requested.count());
  line.raw(R"(,"blocks":[)");
  bool first = true;
  for (const BlockPicture& block : segment.blocks) {
    line.separate(first);
    write_block(line, block);
  }
  line.raw("]}");
}

/// CUDA's history does not name private pools.
void write_entry(JsonText& line, const LogEntry& entry, Vendor vendor) {
  const PoolId pool = vendor == Vendor::npu ? entry.pool : PoolId{};
  line.raw("[\"").raw(name_of(entry.action)).raw("\",").number(entry.address.value());
  line.raw(",").number(entry.size.count()).raw(",");
  line.number(entry.stream ? std::int64_t{entry.stream->value()} : std::int64_t{-1});
  line.raw(",").number(std::int64_t{pool.value()}).raw("]");
}

}  // namespace

Answers::Answers(Session& session) : session_{session} {
  if (session_.refusal().empty()) session_.model().attach_log(&log_);
}

Answers::~Answers() {
  if (session_.refusal().empty()) session_.model().attach_log(nullptr);
}

std::string_view Answers::conditions() {
  const RunConditions& conditions = session_.conditions();
  line_.clear();
  line_.raw(R"({"op":-1,"ok":)").raw(name_of(session_.refusal().empty()));
  if (!session_.refusal().empty()) line_.raw(R"(,"error":)").string(session_.refusal());
  line_.raw(R"(,"conf":)").string(conditions.settings);
  line_.raw(R"(,"device_memory":)").number(conditions.device_total().count());
  line_.raw(R"(,"fraction":)").number(conditions.fraction.value_or(1.0));
  line_.raw(R"(,"events":)").string(conditions.instant_events ? "instant" : "deferred");
  if (conditions.model->vendor == Vendor::npu) {
    line_.raw(R"(,"soc":)").number(number_of(conditions.soc));
  }
  line_.raw("}");
  return line_.view();
}

bool Answers::is_call(const Event& event) {
  return event.kind != EventKind::mark && event.kind != EventKind::step;
}

std::string_view Answers::call(const Event& event, const EventResult& result) {
  begin(kind_of(event, session_.trace()));
  write_outcome(event, result);
  write_counters();
  if (event.kind == EventKind::snapshot) {
    write_statistics();
    write_device();
    write_segments();
    write_log();
  }
  line_.raw("}");
  pass_over(event);
  return line_.view();
}

void Answers::pass_over(const Event& event) {
  ++op_;
  if (event.kind == EventKind::snapshot) close_snapshot();
}

std::string_view Answers::end(History history) {
  begin("end");
  line_.raw("true");
  write_counters();
  write_statistics();
  write_device();
  write_segments();
  switch (history) {
    case History::entries:
      write_log();
      break;
    case History::length:
      line_.raw(R"(,"trace_len":)").number(std::uint64_t{logged_before_ + log_.size()});
      break;
  }
  line_.raw("}");
  return line_.view();
}

void Answers::begin(std::string_view kind) {
  line_.clear();
  told_.clear();
  line_.raw(R"({"op":)").number(op_).raw(R"(,"kind":")").raw(kind).raw(R"(","ok":)");
}

void Answers::write_outcome(const Event& event, const EventResult& result) {
  switch (result.kind) {
    case EventResult::Kind::done:
      line_.raw("true");
      if (event.kind == EventKind::cache_info) {
        const AllocatorModel::CacheInfo info = session_.model().cache_info();
        line_.raw(R"(,"cached":)").number(info.cached.count());
        line_.raw(R"(,"largest":)").number(info.largest.count());
      }
      break;
    case EventResult::Kind::placed:
      line_.raw(R"(true,"addr":)").number(result.placement.address.value());
      line_.raw(R"(,"block_size":)").number(result.placement.size.count());
      break;
    case EventResult::Kind::out_of_memory:
      line_.raw(R"(false,"error":"OOM: )").escaped(session_.last_oom().message).raw("\"");
      break;
    case EventResult::Kind::skipped:
      line_.raw(R"(false,"skipped":true)");
      break;
    case EventResult::Kind::refused:
      line_.raw(R"(false,"error":)").string(session_.last_refusal());
      break;
  }
}

void Answers::write_counters() {
  const Statistics& s = session_.model().statistics();
  write_current_and_peak(line_, R"(,"allocated":[)", s.allocated_bytes.all);
  write_current_and_peak(line_, R"(,"reserved":[)", s.reserved_bytes.all);
  write_current_and_peak(line_, R"(,"active":[)", s.active_bytes.all);
  write_current_and_peak(line_, R"(,"requested":[)", s.requested_bytes.all);
  write_current_and_peak(line_, R"(,"inactive_split":[)", s.inactive_split_bytes.all);
  line_.raw(R"(,"num_alloc_retries":)").number(s.num_alloc_retries);
  line_.raw(R"(,"num_ooms":)").number(s.num_ooms);
}

void Answers::write_statistics() {
  const Statistics& s = session_.model().statistics();
  line_.raw(R"(,"stats":{"order":"[all,small,large] x [current,peak,allocated,freed]")");
  write_by_kind(line_, R"(,"allocation":[)", s.allocation);
  write_by_kind(line_, R"(,"segment":[)", s.segment);
  write_by_kind(line_, R"(,"active":[)", s.active);
  write_by_kind(line_, R"(,"inactive_split":[)", s.inactive_split);
  write_by_kind(line_, R"(,"allocated_bytes":[)", s.allocated_bytes);
  write_by_kind(line_, R"(,"reserved_bytes":[)", s.reserved_bytes);
  write_by_kind(line_, R"(,"active_bytes":[)", s.active_bytes);
  write_by_kind(line_, R"(,"inactive_split_bytes":[)", s.inactive_split_bytes);
  write_by_kind(line_, R"(,"requested_bytes":[)", s.requested_bytes);
  write_current_and_peak(line_, R"(,"oversize_allocations":[)", s.oversize_allocations);
  write_current_and_peak(line_, R"(,"oversize_segments":[)", s.oversize_segments);
  const bool limited = s.max_split_size != Bytes::unlimited();
  const std::array<std::pair<std::string_view, std::int64_t>, 5> counts{{
      {R"(,"num_alloc_retries":)", s.num_alloc_retries},
      {R"(,"num_ooms":)", s.num_ooms},
      {R"(,"num_sync_all_streams":)", s.num_sync_all_streams},
      {R"(,"num_device_alloc":)", s.num_device_alloc},
      {R"(,"num_device_free":)", s.num_device_free},
  }};
  for (const auto& [key, count] : counts) line_.raw(key).number(count);
  if (session_.conditions().model->vendor == Vendor::npu) {
    line_.raw(R"(,"num_oom_rejections":)").number(s.num_oom_rejections);
  }
  line_.raw(R"(,"max_split_size":)").number(limited ? s.max_split_size.count() : -1).raw("}");
}

void Answers::write_device() {
  const Device& device = session_.device();
  const DeviceCounters& c = device.counters();
  const std::array<std::pair<std::string_view, std::int64_t>, 13> values{{
      {R"(,"device":{"total":)", device.total().count()},
      {R"(,"used":)", device.used().count()},
      {R"(,"malloc":)", c.segments_allocated},
      {R"(,"free":)", c.segments_freed},
      {R"(,"phys_malloc":)", c.pages_created},
      {R"(,"phys_free":)", c.pages_destroyed},
      {R"(,"map":)", c.maps},
      {R"(,"unmap":)", c.unmaps},
      {R"(,"reserve":)", c.ranges_reserved},
      {R"(,"release":)", c.ranges_released},
      {R"(,"device_sync":)", c.device_syncs},
      {R"(,"event_sync":)", c.event_syncs},
      {R"(,"pending_events":)", device.pending_events()},
  }};
  for (const auto& [key, value] : values) line_.raw(key).number(value);
  line_.raw("}");
}

void Answers::write_segments() {
  line_.raw(R"(,"segments":[)");
  bool first = true;
  for (const SegmentPicture& segment : session_.model().layout().segments) {
    line_.separate(first);
    write_segment(line_, segment);
  }
  line_.raw("]");
}

void Answers::write_log() {
  line_.raw(R"(,"trace_from":)").number(std::uint64_t{logged_before_}).raw(R"(,"trace":[)");
  bool first = true;
  for (const LogEntry& entry : log_) {
    line_.separate(first);
    write_entry(line_, entry, session_.conditions().model->vendor);
  }
  line_.raw("]");
  told_ = log_;
}

void Answers::close_snapshot() {
  Bytes active;
  for (const SegmentPicture& segment : session_.model().layout().segments) {
    active += sums_of(segment).active;
  }
  logged_before_ += log_.size();
  log_.clear();
  log_.push_back({.action = LogAction::snapshot,
                  .address = Address{},
                  .size = active,
                  .stream = std::nullopt,
                  .pool = PoolId{}});
}

}  // namespace fragcast
