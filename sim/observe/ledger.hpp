#pragma once

#include "sim/observe/event_log.hpp"
#include "sim/observe/statistics.hpp"

namespace fragcast {

/// The facts of one block that is handed out or comes back.
struct BlockFacts {
  Address address;
  Bytes size;
  Bytes requested;
  StreamId stream;
  PoolKind kind = PoolKind::large;
  PoolId pool;
};

/// The facts of a stretch of device memory gained or given back.
struct ReservationFacts {
  Extent extent;
  StreamId stream;
  PoolKind kind = PoolKind::large;
  PoolId pool;
};

/// What all models are measured with: they tell it what happened, it counts and, when a log is
/// attached, writes history. Two models may differ in decisions, never in measurement.
class Ledger {
 public:
  /// Attaches a log, or detaches it (null). The log must outlive the attachment.
  void attach(EventLog* log) { log_ = log; }

  void allocated(const BlockFacts& block);
  /// The user gave the block back; it stays active until `free_completed`.
  void free_requested(const BlockFacts& block);
  void free_completed(const BlockFacts& block);

  void segment_allocated(const ReservationFacts& segment);
  void segment_freed(const ReservationFacts& segment);
  void mapped(const ReservationFacts& stretch);
  void unmapped(const ReservationFacts& stretch);

  /// Free blocks with neighbours: by how many, and by how many bytes, they changed.
  void inactive_split_changed(PoolKind kind, std::int64_t blocks, Bytes bytes);

  /// `tried` bytes could not be had while the device had `device_free`.
  void out_of_memory(Bytes tried, Bytes device_free, StreamId stream, PoolId pool);

  /// For the counters that only the model itself can know (retries, oversize blocks, …).
  [[nodiscard]] Statistics& counters() { return statistics_; }
  [[nodiscard]] const Statistics& statistics() const { return statistics_; }

 private:
  void log(LogAction action, Address address, Bytes size, StreamId stream, PoolId pool) {
    if (log_ != nullptr) {
      log_->push_back(
          {.action = action, .address = address, .size = size, .stream = stream, .pool = pool});
    }
  }

  Statistics statistics_;
  EventLog* log_ = nullptr;
};

}  // namespace fragcast
