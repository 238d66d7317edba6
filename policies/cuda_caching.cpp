#include "policies/cuda_caching.hpp"

#include <fmt/format.h>

#include <array>

#include "policies/caching/caching_model.hpp"
#include "policies/caching/cuda_settings.hpp"
#include "policies/caching/message_size.hpp"

namespace fragcast {
namespace {

/// In the recordings the streams are processed in the order 0, 3, 1, 2; as long as no more than two
/// queues have existed at once, 1 and 2 go by creation.
constexpr std::array<std::uint8_t, 4> stream_ranks{0, 2, 3, 1};
constexpr std::array<std::uint8_t, 4> stream_ranks_of_two{0, 2, 2, 1};

std::string out_of_memory_message(const OutOfMemoryFacts& facts) {
  const std::string allowed =
      facts.limit ? fmt::format("{} allowed; ", message_size(*facts.limit)) : std::string{};
  return fmt::format(
      "CUDA out of memory. Tried to allocate {}. GPU 0 has a total capacity of {} of which {} is "
      "free. {}Of the allocated memory {} is allocated by PyTorch, and {} is reserved by PyTorch "
      "but unallocated. If reserved but unallocated memory is large try setting "
      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation "
      "for Memory Management  "
      "(https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)",
      message_size(facts.tried),
      message_size(facts.device_total),
      message_size(facts.device_free),
      allowed,
      message_size(facts.usage.allocated),
      message_size(facts.usage.reserved - facts.usage.allocated));
}

CachingRules rules_of_2_6() {
  return {.padding = Bytes{0},
          .own_stream_use = OwnStreamUse::ignored,
          .full_fraction = FullFraction::limits,
          .events_paused_by = EventsPausedBy::scopes,
          .serving_scope = ServingScope::outermost,
          .release_wait = ReleaseWait::nothing,
          .unmap_wait = UnmapWait::stream,
          .after_flush = AfterFlush::grow,
          .pool_emptying = PoolEmptying::everything,
          .held_back_shown_as = HeldBackShownAs::pending,
          .stream_order = {.ranks = stream_ranks, .few = 2, .ranks_of_few = stream_ranks_of_two},
          .out_of_memory_message = out_of_memory_message,
          .rejection_message = nullptr,
          .settings = &cuda_2_6_settings_grammar()};
}

CachingRules rules_of_2_10() {
  CachingRules rules = rules_of_2_6();
  rules.settings = &cuda_2_10_settings_grammar();
  return rules;
}

CachingRules rules_after_2_12() {
  CachingRules rules = rules_of_2_10();
  rules.after_flush = AfterFlush::search_and_grow;
  return rules;
}

template <CachingRules (*Rules)()>
MadeModel make(const ModelSpec& spec, Device& device) {
  return make_caching_model(Rules(), spec.settings, device);
}

constexpr std::array releases{
    ModelRelease{.name = "2.6",
                 .summary = "torch 2.6",
                 .evidence = Evidence::recordings,
                 .make = make<rules_of_2_6>,
                 .settings = cuda_2_6_settings_grammar},
    ModelRelease{
        .name = "2.10",
        .summary = "torch 2.10: large_segment_size_mb, and settings read as torch_npu does",
        .evidence = Evidence::source,
        .make = make<rules_of_2_10>,
        .settings = cuda_2_10_settings_grammar},
    ModelRelease{.name = "after-2.12",
                 .summary = "after torch 2.12: the pool is searched again after a flush",
                 .evidence = Evidence::source,
                 .make = make<rules_after_2_12>,
                 .settings = cuda_2_10_settings_grammar},
};

}  // namespace

std::span<const ModelRelease> cuda_caching_releases() { return releases; }

}  // namespace fragcast
