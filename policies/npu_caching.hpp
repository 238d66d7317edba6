#pragma once

#include <span>

#include "policies/registry.hpp"

namespace fragcast {

/// The NPU's caching allocator: CachingAllocator under torch_npu's rules. Source: Ascend/pytorch
/// 9e73e708, NPUCachingAllocator.cpp. What sets it apart from CUDA's: requests are padded by 32
/// bytes on most chips, so that a 1 MiB tensor lands in the large pool; large blocks of expandable
/// ranges begin on aligned addresses; memory is taken back only after the whole device was waited
/// for; a block's own stream counts when it is recorded.
[[nodiscard]] std::span<const ModelRelease> npu_caching_releases();

}  // namespace fragcast
