#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "policies/control.hpp"
#include "replay/trace/trace.hpp"
#include "sim/core/strong_id.hpp"

namespace fragcast {

/// Writes the events of a trace for what entries of a history tell, and keeps what the trace needs
/// beyond them: the pool scope that is open, and the streams that hold delayed frees back.
///
/// A delayed free becomes a use by a stream of its own, above the recording's streams: the trace
/// completes that stream where the recording completed the free. A model that synchronises
/// earlier, under other settings, frees the block earlier, as the allocator would.
class EventWriter {
 public:
  /// How many streams and pools the recording itself has; further ones are numbered behind them.
  struct Numbered {
    std::size_t streams = 0;
    std::size_t pools = 1;
  };
  EventWriter(Trace& trace, Numbered numbered)
      : trace_{trace}, next_stream_{numbered.streams}, next_pool_{numbered.pools} {}

  /// The entry to which what is written from now on belongs.
  void at(std::size_t entry) { source_ = static_cast<std::uint32_t>(entry); }

  struct Request {
    AllocationId id;
    Bytes size;
    StreamId stream;
    PoolId pool;
    bool failed = false;
  };
  void allocate(const Request& request);
  void deallocate(AllocationId id);
  /// Frees `id` but holds it back; returns the stream to complete, or nothing if none was left, and
  /// the free is a plain one.
  std::optional<StreamId> deallocate_later(AllocationId id);
  /// As deallocate_later, for a block that was freed before the trace began.
  std::optional<StreamId> hold_back();
  /// Completes the delayed frees that these streams hold back.
  void complete(const std::vector<StreamId>& streams);

  /// The pool exists when the trace begins.
  void adopt_pool(PoolId pool) { pools_[pool] = {.number = pool, .in_use = true}; }
  /// What the trace calls the pool of the latest request for it.
  [[nodiscard]] PoolId number_of(PoolId pool) const;
  /// The last reference to a pool is dropped, if that has not happened yet.
  void release_pool(PoolId pool);
  void empty_cache();
  void empty_pool(PoolId pool);

 private:
  struct PoolState {
    /// Under which the trace has it: once freeable, a pool's number is not used again.
    PoolId number;
    bool in_use = false;
  };

  void write(Event event);
  /// Writes a control call; equal calls share one place in Trace::controls.
  template <class Call>
  void control(const Call& call);
  void enter(PoolId pool);
  void leave_scope();

  Trace& trace_;
  std::uint32_t source_ = 0;
  std::size_t next_stream_;
  std::size_t next_pool_;
  std::vector<StreamId> spare_streams_;
  std::size_t held_back_ = 0;
  std::map<PoolId, PoolState> pools_;
  /// Of the open scope; PoolId{} if none is.
  PoolId scope_;
  /// Where Trace::controls holds which call for which pool.
  std::map<std::pair<std::size_t, PoolId>, std::uint32_t> calls_;
};

}  // namespace fragcast
