#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policies/allocator_model.hpp"
#include "policies/caching/settings_grammar.hpp"
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

/// What a model's claim to be exact rests on.
enum class Evidence : std::uint8_t {
  recordings,  ///< it answers as the real allocator did, call by call
  source,      ///< read from the allocator's source or documentation: unverified
};

/// One version of an allocator that behaves in its own way.
struct ModelRelease {
  std::string_view name;
  /// What sets it apart, for people.
  std::string_view summary;
  Evidence evidence = Evidence::recordings;
  /// The device must outlive the model.
  MadeModel (*make)(const ModelSpec& spec, Device& device) = nullptr;
  /// How settings strings are read; null for models that are no caching allocators.
  const SettingsGrammar& (*settings)() = nullptr;
};

/// Whose allocator a model is: what its recordings hold and how its answers are written.
enum class Vendor : std::uint8_t { npu, cuda };

/// One allocator model in the table of all.
struct ModelEntry {
  std::string_view name;
  std::string_view summary;
  Vendor vendor = Vendor::npu;
  /// The environment variable its settings come from; empty if it has none.
  std::string_view variable;
  /// The first is the default.
  std::span<const ModelRelease> releases;

  [[nodiscard]] const ModelRelease& default_release() const { return releases.front(); }
};

/// All models, in the order in which they are listed.
[[nodiscard]] std::span<const ModelEntry> all_models();

/// The model of that name, or null.
[[nodiscard]] const ModelEntry* find_model(std::string_view name);
/// The release of that name, or null.
[[nodiscard]] const ModelRelease* find_release(const ModelEntry& model, std::string_view name);

/// The options that a release's settings strings know.
[[nodiscard]] std::vector<ModelOption> options_of(const ModelRelease& release);
/// What a settings string means to a caching allocator; nothing if it is refused, or if the model
/// is none.
[[nodiscard]] std::optional<AllocatorSettings> read_settings(const ModelRelease& release,
                                                             std::string_view text);
/// Whether two settings strings mean the same; false if either is refused.
[[nodiscard]] bool same_settings(const ModelRelease& release,
                                 std::string_view a,
                                 std::string_view b);

}  // namespace fragcast
