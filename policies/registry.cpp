#include "policies/registry.hpp"

#include <algorithm>
#include <array>

#include "policies/caching/npu_settings.hpp"
#include "policies/npu_caching.hpp"

namespace fragcast {

std::span<const ModelEntry> all_models() {
  static const std::array models{
      ModelEntry{.name = "npu-caching",
                 .summary = "torch_npu's caching allocator, exact (Ascend/pytorch, August 2026)",
                 .options = npu_setting_options(),
                 .variable = "PYTORCH_NPU_ALLOC_CONF",
                 .make = make_npu_caching,
                 .same_settings = same_npu_settings,
                 .read_settings = read_npu_settings},
  };
  return models;
}

const ModelEntry* find_model(std::string_view name) {
  const auto models = all_models();
  const auto found = std::find_if(
      models.begin(), models.end(), [name](const ModelEntry& entry) { return entry.name == name; });
  return found == models.end() ? nullptr : &*found;
}

}  // namespace fragcast
