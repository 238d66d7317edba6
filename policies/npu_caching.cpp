#include "policies/npu_caching.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <variant>

#include "policies/caching/caching_allocator.hpp"
#include "policies/caching/message_size.hpp"
#include "policies/caching/npu_settings.hpp"
#include "policies/caching/settings_parser.hpp"

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

ChangedSettings change_settings(const AllocatorSettings& before, const std::string& text) {
  SettingsResult result = apply_runtime_settings(npu_settings_grammar(), before, text);
  if (auto* refusal = std::get_if<SettingsRefusal>(&result)) {
    return {.settings = before, .refusal = std::move(refusal->reason)};
  }
  return {.settings = std::get<ParsedSettings>(result).settings, .refusal = {}};
}

CachingRules npu_rules(Soc soc) {
  return {.padding = soc == Soc::ascend950 ? Bytes{0} : pad,
          .own_stream_use = OwnStreamUse::counts,
          .full_fraction = FullFraction::lifts_limit,
          .events_paused_by = EventsPausedBy::captures,
          .serving_scope = ServingScope::innermost,
          .release_wait = ReleaseWait::device,
          .unmap_wait = ReleaseWait::device,
          .held_back_shown_as = HeldBackShownAs::inactive,
          .stream_ranks = stream_ranks,
          .out_of_memory_message = out_of_memory_message,
          .rejection_message = rejection_message,
          .change_settings = change_settings};
}

}  // namespace

MadeModel make_npu_caching(const ModelSpec& spec, Device& device) {
  SettingsResult result = parse_settings(npu_settings_grammar(), spec.settings);
  if (auto* refusal = std::get_if<SettingsRefusal>(&result)) {
    return {.model = nullptr, .refusal = std::move(refusal->reason), .warnings = {}};
  }
  auto& parsed = std::get<ParsedSettings>(result);
  return {.model = std::make_unique<CachingAllocator>(npu_rules(spec.soc), parsed.settings, device),
          .refusal = {},
          .warnings = std::move(parsed.warnings)};
}

bool same_npu_settings(std::string_view a, std::string_view b) {
  const auto first = read_npu_settings(a);
  return first && first == read_npu_settings(b);
}

std::optional<AllocatorSettings> read_npu_settings(std::string_view text) {
  const SettingsResult result = parse_settings(npu_settings_grammar(), text);
  const auto* parsed = std::get_if<ParsedSettings>(&result);
  return parsed != nullptr ? std::optional{parsed->settings} : std::nullopt;
}

}  // namespace fragcast
