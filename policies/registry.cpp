#include "policies/registry.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include "policies/caching/settings_parser.hpp"
#include "policies/cuda_caching.hpp"
#include "policies/npu_caching.hpp"

namespace fragcast {

std::span<const ModelEntry> all_models() {
  static const std::array models{
      ModelEntry{.name = "npu-caching",
                 .summary = "torch_npu's caching allocator, exact",
                 .vendor = Vendor::npu,
                 .variable = "PYTORCH_NPU_ALLOC_CONF",
                 .releases = npu_caching_releases()},
      ModelEntry{.name = "cuda-caching",
                 .summary = "PyTorch's CUDA caching allocator, exact",
                 .vendor = Vendor::cuda,
                 .variable = "PYTORCH_CUDA_ALLOC_CONF",
                 .releases = cuda_caching_releases()},
  };
  return models;
}

const ModelEntry* find_model(std::string_view name) {
  const auto models = all_models();
  const auto found = std::find_if(
      models.begin(), models.end(), [name](const ModelEntry& entry) { return entry.name == name; });
  return found == models.end() ? nullptr : &*found;
}

const ModelRelease* find_release(const ModelEntry& model, std::string_view name) {
  const auto found = std::find_if(model.releases.begin(),
                                  model.releases.end(),
                                  [name](const ModelRelease& r) { return r.name == name; });
  return found == model.releases.end() ? nullptr : &*found;
}

std::vector<ModelOption> options_of(const ModelRelease& release) {
  std::vector<ModelOption> options;
  if (release.settings == nullptr) return options;
  for (const SettingKey& key : release.settings().keys) {
    options.push_back({.key = key.name, .default_value = key.default_text, .meaning = key.meaning});
  }
  return options;
}

std::optional<AllocatorSettings> read_settings(const ModelRelease& release, std::string_view text) {
  if (release.settings == nullptr) return std::nullopt;
  const SettingsResult result = parse_settings(release.settings(), text);
  const auto* parsed = std::get_if<ParsedSettings>(&result);
  return parsed != nullptr ? std::optional{parsed->settings} : std::nullopt;
}

bool same_settings(const ModelRelease& release, std::string_view a, std::string_view b) {
  if (release.settings == nullptr) return a == b;
  const auto first = read_settings(release, a);
  return first && first == read_settings(release, b);
}

}  // namespace fragcast
