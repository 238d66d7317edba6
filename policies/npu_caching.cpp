#include "policies/npu_caching.hpp"

#include <fmt/format.h>

#include <array>

#include "policies/caching/caching_model.hpp"
#include "policies/caching/message_size.hpp"
#include "policies/caching/npu_settings.hpp"

namespace fragcast {
namespace {

/// AddPadSize(): room for the 32 bytes that aclrtMalloc adds, on all chips before Ascend950.
constexpr Bytes pad = 32_B;

/// Streams 0 to 7 in the recordings are processed in the order 6, 3, 5, 2, {0, 7}, 4, 1.
constexpr std::array<std::uint8_t, 8> stream_ranks{4, 6, 3, 1, 5, 2, 0, 4};

std::string out_of_memory_message(const OutOfMemoryFacts& facts) {
  const std::string allowed =
      facts.limit ? fmt::format("{} allowed; ", message_size(*facts.limit)) : std::string{};
  return fmt::format(
      "NPU out of memory. Tried to allocate {} (NPU 0; {} total capacity; {} already allocated; {} "
      "current active; {} free; {}{} reserved in total by PyTorch).If reserved memory is >> "
      "allocated memory try setting max_split_size_mb to avoid fragmentation.",
      message_size(facts.tried),
      message_size(facts.device_total),
      message_size(facts.usage.allocated),
      message_size(facts.usage.active),
      message_size(facts.device_free),
      allowed,
      message_size(facts.usage.reserved));
}

std::string rejection_message(Bytes requested) {
  return fmt::format(
      "NPU out of memory. Allocation was preemptively rejected because it would exceed "
      "per_process_memory_fraction limit. Requested size: {}",
      message_size(requested));
}

CachingRules npu_rules(Soc soc) {
  return {.padding = soc == Soc::ascend950 ? Bytes{0} : pad,
          .own_stream_use = OwnStreamUse::counts,
          .full_fraction = FullFraction::lifts_limit,
          .events_paused_by = EventsPausedBy::captures,
          .serving_scope = ServingScope::innermost,
          .release_wait = ReleaseWait::device,
          .unmap_wait = UnmapWait::device,
          .after_flush = AfterFlush::grow,
          .pool_emptying = PoolEmptying::that_pool,
          .held_back_shown_as = HeldBackShownAs::inactive,
          .stream_order = {.ranks = stream_ranks, .few = 0, .ranks_of_few = {}},
          .out_of_memory_message = out_of_memory_message,
          .rejection_message = rejection_message,
          .settings = &npu_settings_grammar()};
}

MadeModel make(const ModelSpec& spec, Device& device) {
  return make_caching_model(npu_rules(spec.soc), spec.settings, device);
}

constexpr std::array releases{
    ModelRelease{.name = "2026-08",
                 .summary = "Ascend/pytorch, master of August 2026",
                 .evidence = Evidence::recordings,
                 .make = make,
                 .settings = npu_settings_grammar},
};

}  // namespace

std::span<const ModelRelease> npu_caching_releases() { return releases; }

}  // namespace fragcast
