#pragma once

#include <span>

#include "policies/registry.hpp"

namespace fragcast {

/// CUDA's caching allocator: CachingAllocator under PyTorch's rules. Source: PyTorch v2.6.0,
/// c10/cuda/CUDACachingAllocator.cpp. What sets it apart from the NPU's: requests are not padded,
/// blocks not aligned beyond 512 bytes; expandable segments go together with max_split_size_mb; a
/// block's own stream does not count when it is recorded; while a scope is open (a graph capture,
/// use_mem_pool) no events are processed, and the outermost one serves; nothing but the events
/// themselves is waited for before memory is released.
///
/// Later versions as far as they are known to differ. Left out besides what the core leaves out:
/// backend:cudaMallocAsync, peer access.
[[nodiscard]] std::span<const ModelRelease> cuda_caching_releases();

}  // namespace fragcast
