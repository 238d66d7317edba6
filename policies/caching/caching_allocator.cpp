#include "policies/caching/caching_allocator.hpp"

#include <fmt/format.h>

#include <utility>

#include "policies/caching/settings_parser.hpp"

namespace fragcast {

CachingAllocator::CachingAllocator(const CachingRules& rules,
                                   const AllocatorSettings& settings,
                                   Device& device)
    : rules_{rules},
      settings_{settings},
      device_{device},
      source_{rules_, settings_, device_, heap_, ledger()},
      pools_{rules.serving_scope},
      pending_{rules.stream_order} {
  ledger().counters().max_split_size = settings_.max_split_size;
  if (settings_.per_process_memory_fraction < 1.0) {
    carry_out(control::SetFraction{settings_.per_process_memory_fraction});
  }
}

ControlRefusal CachingAllocator::do_apply(const Control& control) {
  return std::visit([this](const auto& call) { return carry_out(call); }, control);
}

ControlRefusal CachingAllocator::carry_out(const control::EmptyCache&) {
  flush(FreedPages::to_device);
  return {};
}

ControlRefusal CachingAllocator::carry_out(const control::EmptyVirtualAddressCache&) {
  if (!settings_.expandable_segments) return "empty_virt_addr_cache needs expandable_segments:True";
  flush(FreedPages::to_cache);
  return {};
}

ControlRefusal CachingAllocator::carry_out(const control::Synchronize&) {
  device_.synchronize();
  return {};
}

ControlRefusal CachingAllocator::carry_out(const control::PoolCreate& call) {
  if (pools_.add_reference(call.pool)) return {};
  return fmt::format("pool {} was released and still holds memory: it cannot be created again",
                     call.pool.value());
}

ControlRefusal CachingAllocator::carry_out(const control::PoolBegin& call) {
  if (!pools_.add_reference(call.pool)) {
    return fmt::format("pool {} was released and still holds memory: it cannot be begun again",
                       call.pool.value());
  }
  pools_.open_scope(call.pool);
  return {};
}

ControlRefusal CachingAllocator::carry_out(const control::PoolEnd& call) {
  if (pools_.close_scope(call.pool)) return {};
  return fmt::format("pool {} has no open scope to end", call.pool.value());
}

ControlRefusal CachingAllocator::carry_out(const control::PoolRelease& call) {
  if (pools_.drop_reference(call.pool)) return {};
  return fmt::format("pool {} has no reference to release", call.pool.value());
}

ControlRefusal CachingAllocator::carry_out(const control::PoolEmpty& call) {
  if (rules_.pool_emptying == PoolEmptying::everything) return carry_out(control::EmptyCache{});
  source_.wait_before_release();
  PrivatePool* pool = pools_.find(call.pool);
  if (pool != nullptr && pool->freeable()) empty_private_pool(*pool);
  return {};
}

ControlRefusal CachingAllocator::carry_out(const control::PoolUseOnOom& call) {
  pools_.set_use_on_oom(call.pool, call.enabled);
  return {};
}

ControlRefusal CachingAllocator::carry_out(const control::PoolNoSplit& call) {
  pools_.set_no_split(call.pool, call.enabled);
  return {};
}

ControlRefusal CachingAllocator::carry_out(const control::CaptureBegin&) {
  ++captures_;
  return {};
}

ControlRefusal CachingAllocator::carry_out(const control::CaptureEnd&) {
  if (captures_ == 0) return "no capture is open";
  --captures_;
  return {};
}

ControlRefusal CachingAllocator::carry_out(const control::ChangeSettings& call) {
  SettingsResult result = apply_runtime_settings(*rules_.settings, settings_, call.text);
  if (auto* refusal = std::get_if<SettingsRefusal>(&result)) return std::move(refusal->reason);
  settings_ = std::get<ParsedSettings>(result).settings;
  return {};
}

ControlRefusal CachingAllocator::carry_out(const control::SetFraction& call) {
  limit_.reset();
  if (call.fraction < 1.0 || rules_.full_fraction == FullFraction::limits) {
    limit_ = Bytes{
        static_cast<std::int64_t>(call.fraction * static_cast<double>(device_.total().count()))};
  }
  return {};
}

ControlRefusal CachingAllocator::carry_out(const control::ResetPeak&) {
  ledger().counters().reset_peak();
  return {};
}

ControlRefusal CachingAllocator::carry_out(const control::ResetAccumulated&) {
  ledger().counters().reset_accumulated();
  return {};
}

}  // namespace fragcast
