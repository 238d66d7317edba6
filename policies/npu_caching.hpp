#pragma once

#include <optional>
#include <string_view>

#include "policies/registry.hpp"

namespace fragcast {

/// The NPU's caching allocator: CachingAllocator under torch_npu's rules. Source: Ascend/pytorch
/// 9e73e708, NPUCachingAllocator.cpp. What sets it apart from CUDA's: requests are padded by 32
/// bytes on most chips, so that a 1 MiB tensor lands in the large pool; large blocks of expandable
/// ranges begin on aligned addresses; memory is taken back only after the whole device was waited
/// for; a block's own stream counts when it is recorded.
[[nodiscard]] MadeModel make_npu_caching(const ModelSpec& spec, Device& device);

/// Whether torch_npu accepts both settings strings and they mean the same.
[[nodiscard]] bool same_npu_settings(std::string_view a, std::string_view b);

/// What a settings string means to torch_npu; nothing if it is refused.
[[nodiscard]] std::optional<AllocatorSettings> read_npu_settings(std::string_view text);

}  // namespace fragcast
