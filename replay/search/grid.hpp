#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policies/caching/settings.hpp"
#include "policies/registry.hpp"
#include "replay/search/size_profile.hpp"

namespace fragcast {

/// Which keys a search may change.
enum class SettingKeys : std::uint8_t {
  usual,
  /// Also roundup divisions, pages of 1 GiB, base alignment and lazy reclaim: few can use them.
  all,
};

/// What the settings worth trying are made from.
struct GridBasis {
  /// With a grammar for settings.
  const ModelRelease* release = nullptr;
  /// Keys that are not searched stay as they are there.
  std::string recorded;
  SizeProfile sizes;
  /// Under the recorded settings.
  Bytes reserved_peak;
  /// What the allocator may hold, where a fraction says so.
  std::optional<Bytes> limit;
  std::optional<Bytes> device_memory;
  SettingKeys keys = SettingKeys::usual;
};

/// One key's values worth trying, ascending, and how settings are moved along them.
struct GridAxis {
  std::vector<double> values;
  double (*get)(const AllocatorSettings& settings) = nullptr;
  void (*set)(AllocatorSettings& settings, double value) = nullptr;
  bool (*applies)(const AllocatorSettings& settings) = nullptr;
};

/// The settings worth trying on some traces: legal ones only, as the allocator's environment
/// variable would hold them, each spelt in one way.
///
///     plain      large_segment_size_mb
///     split      max_split_size_mb, from the gaps and quantiles of the sizes asked for;
///                large_segment_size_mb, max_non_split_rounding_mb
///     collected  garbage_collection_threshold, where a fraction limits the allocator or a key can;
///                alone and with max_split_size_mb
///     ranges     expandable_segments with large_segment_size_mb (or segment_size_mb), and with
///                max_split_size_mb where the allocator takes that
///
/// A search begins with `coarse` and goes on with `around` what was best.
class Grid {
 public:
  explicit Grid(GridBasis basis);

  [[nodiscard]] std::vector<std::string> coarse() const;
  /// One step up and down each numeric key that `settings` use; steps halve with every round, from
  /// 0, down to neighbouring values.
  [[nodiscard]] std::vector<std::string> around(const std::string& settings, unsigned round) const;

  /// `text` in place of all that is searched; nothing if the allocator refuses it.
  [[nodiscard]] std::optional<std::string> with(std::string_view text) const;

 private:
  [[nodiscard]] bool knows(std::string_view key) const;
  [[nodiscard]] AllocatorSettings base_settings() const;
  /// The settings string, with the keys of the recorded settings that bear on host memory only;
  /// nothing if the allocator refuses it or takes it for something else.
  [[nodiscard]] std::optional<std::string> text_of(const AllocatorSettings& settings) const;
  [[nodiscard]] std::vector<double> split_sizes() const;
  [[nodiscard]] std::vector<double> coarse_split_sizes() const;
  [[nodiscard]] std::vector<double> coarse_segment_sizes() const;
  [[nodiscard]] std::vector<double> coarse_thresholds() const;
  void add_axes();
  [[nodiscard]] std::vector<AllocatorSettings> rarely_used() const;

  GridBasis basis_;
  std::string host_keys_;
  AllocatorSettings base_;
  /// What garbage collection needs: `base_`, with a fraction if none is in force.
  std::optional<AllocatorSettings> limited_;
  Bytes limit_;
  std::vector<GridAxis> axes_;
};

/// A settings string in the one spelling that a grid has; nothing if the allocator refuses it.
[[nodiscard]] std::optional<std::string> spelt(const ModelRelease& release, std::string_view text);

/// What people are told to set, each as the environment variable would hold it.
[[nodiscard]] std::vector<std::string_view> popular_settings();

}  // namespace fragcast
