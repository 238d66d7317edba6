#pragma once

#include "policies/caching/settings_grammar.hpp"

namespace fragcast {

/// How torch 2.6 reads PYTORCH_CUDA_ALLOC_CONF (c10/cuda/CUDAAllocatorConfig, v2.6.0): separators
/// are looked at, every key may change at run time.
[[nodiscard]] const SettingsGrammar& cuda_2_6_settings_grammar();

/// How torch 2.10 reads it: c10/core/AllocatorConfig for what all devices share, which brought
/// large_segment_size_mb, and c10/cuda/CUDAAllocatorConfig for the rest.
[[nodiscard]] const SettingsGrammar& cuda_2_10_settings_grammar();

}  // namespace fragcast
