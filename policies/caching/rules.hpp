#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "policies/caching/settings_grammar.hpp"
#include "sim/core/bytes.hpp"
#include "sim/observe/layout.hpp"
#include "sim/observe/statistics.hpp"

namespace fragcast {

/// The numbers that an allocator puts into its out-of-memory message.
struct OutOfMemoryFacts {
  Bytes tried;
  Bytes device_total;
  Bytes device_free;
  Usage usage;
  std::optional<Bytes> limit;
};

/// Whether a stream that a block was allocated on counts as a recorded use.
enum class OwnStreamUse : std::uint8_t { counts, ignored };
/// Whether a memory fraction of exactly 1 limits (to the whole device) or lifts the limit.
enum class FullFraction : std::uint8_t { lifts_limit, limits };
/// What must be open for events to be left alone and freed blocks with uses to be held back.
enum class EventsPausedBy : std::uint8_t { captures, scopes };
/// The scope that serves when several are open.
enum class ServingScope : std::uint8_t { innermost, outermost };
/// What is waited for before whole segments are taken back: by garbage collection, oversize release
/// or a flush.
enum class ReleaseWait : std::uint8_t { device, nothing };
/// What is waited for before pages are unmapped.
enum class UnmapWait : std::uint8_t { device, stream };
/// Whether the pool is searched again when a flush has completed frees, before the device is asked.
enum class AfterFlush : std::uint8_t { grow, search_and_grow };
/// What emptying one private pool empties.
enum class PoolEmptying : std::uint8_t { that_pool, everything };
/// How snapshots show a block that is held back.
enum class HeldBackShownAs : std::uint8_t { inactive, pending };

/// In which order the streams' events are processed: a rank by stream number, smaller first; equal
/// ranks, and streams beyond the table, in order of their queues' creation. It is a hash map's
/// order upstream, known from recordings.
struct StreamOrder {
  std::span<const std::uint8_t> ranks;
  /// As long as never more than `few` queues have existed at once, these ranks hold instead.
  std::size_t few = 0;
  std::span<const std::uint8_t> ranks_of_few;
};

/// What differs between the caching allocators of the family. One core serves them all; each of its
/// branches on a difference reads one of these.
struct CachingRules {
  /// Added to every request before rounding.
  Bytes padding;
  OwnStreamUse own_stream_use = OwnStreamUse::counts;
  FullFraction full_fraction = FullFraction::lifts_limit;
  EventsPausedBy events_paused_by = EventsPausedBy::captures;
  ServingScope serving_scope = ServingScope::innermost;
  ReleaseWait release_wait = ReleaseWait::device;
  UnmapWait unmap_wait = UnmapWait::device;
  AfterFlush after_flush = AfterFlush::grow;
  PoolEmptying pool_emptying = PoolEmptying::that_pool;
  HeldBackShownAs held_back_shown_as = HeldBackShownAs::inactive;
  StreamOrder stream_order;
  std::string (*out_of_memory_message)(const OutOfMemoryFacts& facts) = nullptr;
  /// Null where nothing is rejected before the device is asked.
  std::string (*rejection_message)(Bytes requested) = nullptr;
  /// Never null.
  const SettingsGrammar* settings = nullptr;
};

}  // namespace fragcast
