#pragma once

#include "policies/caching/settings_grammar.hpp"

namespace fragcast {

/// How torch_npu reads PYTORCH_NPU_ALLOC_CONF (torch_npu/csrc/core/npu/NPUAllocatorConfig, with
/// torch's c10/core/AllocatorConfig below it; master of August 2026).
[[nodiscard]] const SettingsGrammar& npu_settings_grammar();

}  // namespace fragcast
