#include "sim/observe/ledger.hpp"

namespace fragcast {

void Ledger::allocated(const BlockFacts& block) {
  statistics_.allocation.add(block.kind, 1);
  statistics_.allocated_bytes.add(block.kind, block.size);
  statistics_.active.add(block.kind, 1);
  statistics_.active_bytes.add(block.kind, block.size);
  statistics_.requested_bytes.add(block.kind, block.requested);
  log(LogAction::alloc, block.address, block.requested, block.stream, block.pool);
}

void Ledger::free_requested(const BlockFacts& block) {
  statistics_.allocation.add(block.kind, -1);
  statistics_.allocated_bytes.add(block.kind, -block.size);
  log(LogAction::free_requested, block.address, block.requested, block.stream, block.pool);
}

void Ledger::free_completed(const BlockFacts& block) {
  statistics_.active.add(block.kind, -1);
  statistics_.active_bytes.add(block.kind, -block.size);
  statistics_.requested_bytes.add(block.kind, -block.requested);
  log(LogAction::free_completed, block.address, block.requested, block.stream, block.pool);
}

void Ledger::segment_allocated(const ReservationFacts& segment) {
  statistics_.segment.add(segment.kind, 1);
  statistics_.reserved_bytes.add(segment.kind, segment.extent.size);
  ++statistics_.num_device_alloc;
  log(LogAction::segment_alloc,
      segment.extent.begin,
      segment.extent.size,
      segment.stream,
      segment.pool);
}

void Ledger::segment_freed(const ReservationFacts& segment) {
  statistics_.segment.add(segment.kind, -1);
  statistics_.reserved_bytes.add(segment.kind, -segment.extent.size);
  ++statistics_.num_device_free;
  log(LogAction::segment_free,
      segment.extent.begin,
      segment.extent.size,
      segment.stream,
      segment.pool);
}

void Ledger::mapped(const ReservationFacts& stretch) {
  statistics_.reserved_bytes.add(stretch.kind, stretch.extent.size);
  ++statistics_.num_device_alloc;
  log(LogAction::segment_map,
      stretch.extent.begin,
      stretch.extent.size,
      stretch.stream,
      stretch.pool);
}

void Ledger::unmapped(const ReservationFacts& stretch) {
  statistics_.reserved_bytes.add(stretch.kind, -stretch.extent.size);
  ++statistics_.num_device_free;
  log(LogAction::segment_unmap,
      stretch.extent.begin,
      stretch.extent.size,
      stretch.stream,
      stretch.pool);
}

void Ledger::inactive_split_changed(PoolKind kind, std::int64_t blocks, Bytes bytes) {
  statistics_.inactive_split.add(kind, blocks);
  statistics_.inactive_split_bytes.add(kind, bytes);
}

void Ledger::out_of_memory(Bytes tried, Bytes device_free, StreamId stream, PoolId pool) {
  ++statistics_.num_ooms;
  log(LogAction::oom, Address{} + device_free, tried, stream, pool);
}

}  // namespace fragcast
