#pragma once

#include <string>
#include <variant>

#include "policies/control.hpp"
#include "sim/core/address.hpp"
#include "sim/core/bytes.hpp"
#include "sim/core/dense_map.hpp"
#include "sim/core/strong_id.hpp"
#include "sim/observe/layout.hpp"
#include "sim/observe/ledger.hpp"

namespace fragcast {

/// One request for memory. The caller names it; the name must be new.
struct AllocateRequest {
  AllocationId id;
  Bytes size;
  StreamId stream;
  /// `size` is padded and rounded already: an `oom` entry of a recording has such a size. Under
  /// other settings than the recorded ones the allocator may round it further.
  bool size_is_rounded = false;
};

/// Where an allocation went. A request of 0 bytes is placed at address 0 with size 0.
struct Placement {
  Address address;
  /// Of the block, at least the request's.
  Bytes size;
};

/// An allocation that could not be served, with the numbers of the moment.
struct OutOfMemory {
  Bytes requested;
  /// What the device was asked for (a segment's size).
  Bytes tried;
  Bytes device_free;
  /// Refused before the device was asked.
  bool rejected = false;
  /// As the real allocator words it.
  std::string message;
};

using AllocateOutcome = std::variant<Placement, OutOfMemory>;

/// A model of an allocator: decisions only. The public half checks the caller and is the same for
/// all models; the `do_` half decides. Time, capacity and prices belong to the simulated device,
/// counting to the ledger.
class AllocatorModel {
 public:
  AllocatorModel(const AllocatorModel&) = delete;
  AllocatorModel& operator=(const AllocatorModel&) = delete;
  virtual ~AllocatorModel() = default;

  /// Serves a request, or says why not. Out of memory is an outcome, never an exception.
  [[nodiscard]] AllocateOutcome allocate(const AllocateRequest& request);
  /// Frees a live allocation. It may stay active until the device has finished with it.
  void deallocate(AllocationId id);
  /// Notes that `stream` uses a live allocation: freeing it waits for the work queued there.
  void record_stream(AllocationId id, StreamId stream);
  /// Carries out a control call; the refusal is empty when it was carried out.
  [[nodiscard]] ControlRefusal apply(const Control& control);

  /// Whether `id` was allocated and not freed yet.
  [[nodiscard]] bool is_live(AllocationId id) const { return live_.get(id) != Liveness::dead; }

  /// Starts from a heap as it was recorded: the blocks of `heap` become live under the allocation
  /// ids it names, pending ones too: what they wait for is in no heap. Only before any other call.
  /// Returns why not, or an empty refusal.
  [[nodiscard]] ControlRefusal restore(const Layout& heap);

  /// The heap as it stands.
  [[nodiscard]] virtual Layout layout() const = 0;
  /// Bytes that are free inside the reserved memory, and the largest free block.
  struct CacheInfo {
    Bytes cached;
    Bytes largest;
  };
  [[nodiscard]] virtual CacheInfo cache_info() const = 0;
  /// The least block that a request of so many bytes is served with: padding and rounding included.
  [[nodiscard]] virtual Bytes block_size(Bytes requested) const { return requested; }
  /// The largest request that the allocator rounds to `rounded`, a size that it rounds to.
  [[nodiscard]] virtual Bytes largest_request(Bytes rounded) const { return rounded; }
  /// Re-derives every invariant from scratch; throws InvariantError naming the first that fails.
  virtual void check() const = 0;

  [[nodiscard]] const Statistics& statistics() const { return ledger_.statistics(); }
  /// Sends the history of what happens from now on to `log` (null: nowhere).
  void attach_log(EventLog* log) { ledger_.attach(log); }
  /// Starts the statistics afresh from the present state: peaks become current values and
  /// cumulative counts zero.
  void restart_statistics();

 protected:
  AllocatorModel() = default;

  virtual AllocateOutcome do_allocate(const AllocateRequest& request) = 0;
  virtual void do_deallocate(AllocationId id) = 0;
  virtual void do_record_stream(AllocationId id, StreamId stream) = 0;
  virtual ControlRefusal do_apply(const Control& control) = 0;
  virtual ControlRefusal do_restore(const Layout& heap);

  [[nodiscard]] Ledger& ledger() { return ledger_; }
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }

 private:
  /// A live allocation of 0 bytes is known to nobody but this class.
  enum class Liveness : std::uint8_t { dead, live, live_empty };

  DenseMap<AllocationId, Liveness> live_;
  Ledger ledger_;
};

}  // namespace fragcast
