#include "sim/observe/ledger.hpp"

namespace fragcast {

void Ledger::allocated(const BlockFacts& block) {
  statistics_.allocation.increase(block.kind, 1);
  statistics_.allocated_bytes.increase(block.kind, block.size);
  statistics_.active.increase(block.kind, 1);
  statistics_.active_bytes.increase(block.kind, block.size);
  statistics_.requested_bytes.increase(block.kind, block.requested);
  log(LogAction::alloc, block.address, block.requested, block.stream, block.pool);
}

void Ledger::free_requested(const BlockFacts& block) {
  statistics_.allocation.decrease(block.kind, 1);
  statistics_.allocated_bytes.decrease(block.kind, block.size);
  log(LogAction::free_requested, block.address, block.requested, block.stream, block.pool);
}

void Ledger::free_completed(const BlockFacts& block) {
  statistics_.active.decrease(block.kind, 1);
  statistics_.active_bytes.decrease(block.kind, block.size);
  statistics_.requested_bytes.decrease(block.kind, block.requested);
  log(LogAction::free_completed, block.address, block.requested, block.stream, block.pool);
}

void Ledger::segment_allocated(const ReservationFacts& segment) {
  statistics_.segment.increase(segment.kind, 1);
  statistics_.reserved_bytes.increase(segment.kind, segment.extent.size);
  ++statistics_.num_device_alloc;
  log(LogAction::segment_alloc,
      segment.extent.begin,
      segment.extent.size,
      segment.stream,
      segment.pool);
}

void Ledger::segment_freed(const ReservationFacts& segment) {
  statistics_.segment.decrease(segment.kind, 1);
  statistics_.reserved_bytes.decrease(segment.kind, segment.extent.size);
  ++statistics_.num_device_free;
  log(LogAction::segment_free,
      segment.extent.begin,
      segment.extent.size,
      segment.stream,
      segment.pool);
}

void Ledger::mapped(const ReservationFacts& stretch) {
  statistics_.reserved_bytes.increase(stretch.kind, stretch.extent.size);
  ++statistics_.num_device_alloc;
  log(LogAction::segment_map,
      stretch.extent.begin,
      stretch.extent.size,
      stretch.stream,
      stretch.pool);
}

void Ledger::unmapped(const ReservationFacts& stretch) {
  statistics_.reserved_bytes.decrease(stretch.kind, stretch.extent.size);
  ++statistics_.num_device_free;
  log(LogAction::segment_unmap,
      stretch.extent.begin,
      stretch.extent.size,
      stretch.stream,
      stretch.pool);
}

void Ledger::inactive_split_changed(PoolKind kind, std::int64_t blocks, Bytes bytes) {
  statistics_.inactive_split.change(kind, blocks);
  statistics_.inactive_split_bytes.change(kind, bytes);
}

void Ledger::out_of_memory(Bytes tried, Bytes device_free, StreamId stream, PoolId pool) {
  ++statistics_.num_ooms;
  log(LogAction::oom, Address{} + device_free, tried, stream, pool);
}

}  // namespace fragcast
