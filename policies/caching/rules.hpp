#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "policies/caching/settings.hpp"
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
/// What the device is told to wait for when memory is taken back.
enum class ReleaseWait : std::uint8_t { device, nothing };
/// How snapshots show a block that is held back.
enum class HeldBackShownAs : std::uint8_t { inactive, pending };

/// Settings after a change at run time, or why the change is refused.
struct ChangedSettings {
  AllocatorSettings settings;
  std::string refusal;
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
  /// At garbage collection, oversize release and flush.
  ReleaseWait release_wait = ReleaseWait::device;
  /// At each unmapped stretch.
  ReleaseWait unmap_wait = ReleaseWait::device;
  HeldBackShownAs held_back_shown_as = HeldBackShownAs::inactive;
  /// In which order the streams' events are processed: a rank by stream number, smaller first;
  /// equal ranks, and streams beyond the table, in order of their queues' creation. It is a hash
  /// map's order upstream, known from recordings.
  std::span<const std::uint8_t> stream_ranks;
  std::string (*out_of_memory_message)(const OutOfMemoryFacts& facts) = nullptr;
  std::string (*rejection_message)(Bytes requested) = nullptr;
  ChangedSettings (*change_settings)(const AllocatorSettings& before,
                                     const std::string& text) = nullptr;
};

}  // namespace fragcast
