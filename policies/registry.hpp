#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policies/allocator_model.hpp"
#include "policies/caching/settings.hpp"
#include "sim/device/device.hpp"

namespace fragcast {

/// The chip an allocator runs on, as far as it decides anything.
enum class Soc : std::uint8_t {
  ascend910b,  ///< and all before Ascend950: requests are padded by 32 bytes
  ascend950,   ///< with CANN 9.1.0 or later: no padding
};

/// How a model is to be made.
struct ModelSpec {
  /// As the allocator's environment variable would hold it; empty is the default.
  std::string settings;
  Soc soc = Soc::ascend910b;
};

/// One option of a model, for people.
struct ModelOption {
  std::string_view key;
  std::string_view default_value;
  std::string_view meaning;
};

/// A model made, or why its settings are refused. Warnings concern settings that were accepted.
struct MadeModel {
  std::unique_ptr<AllocatorModel> model;
  std::string refusal;
  std::vector<std::string> warnings;
};

/// One allocator model in the table of all.
struct ModelEntry {
  std::string_view name;
  std::string_view summary;
  std::span<const ModelOption> options;
  /// The environment variable its settings come from; empty if it has none.
  std::string_view variable;
  /// The device must outlive the model.
  MadeModel (*make)(const ModelSpec& spec, Device& device);
  /// Whether two settings strings mean the same; false if either is refused.
  bool (*same_settings)(std::string_view a, std::string_view b);
  /// What a settings string means; nothing if it is refused. Null for models that are no caching
  /// allocators.
  std::optional<AllocatorSettings> (*read_settings)(std::string_view text) = nullptr;
};

/// All models, in the order in which they are listed.
[[nodiscard]] std::span<const ModelEntry> all_models();

/// The model of that name, or null.
[[nodiscard]] const ModelEntry* find_model(std::string_view name);

}  // namespace fragcast
