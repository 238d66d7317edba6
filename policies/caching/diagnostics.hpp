#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policies/registry.hpp"
#include "sim/core/bytes.hpp"

namespace fragcast {

/// A settings string and the circumstances that it is to be of use in.
struct SettingsCase {
  /// Neither is null.
  const ModelEntry* model = nullptr;
  const ModelRelease* release = nullptr;
  std::string_view text;
  /// What the allocator adds to every request.
  Bytes padding;
  Bytes device_total = 64_GiB;
  /// Whether requests can fail for want of device memory.
  bool device_is_limited = false;
  /// What a memory fraction lets the allocator hold, if one is in force.
  std::optional<Bytes> limit;
  Bytes largest_request;
  /// Of the heap that the requests begin with, if it is taken over.
  Bytes largest_initial_segment;
  /// Bit k: some request is for 2^k bytes.
  std::uint64_t powers_of_two = 0;
  /// The settings or the fraction may change on the way, so that none can be called useless.
  bool changes_at_run_time = false;
};

/// A settings case with what the string in it means.
struct ReadSettings {
  const SettingsCase& of;
  /// Absent: a key or a value is refused.
  std::optional<AllocatorSettings> settings;
  /// Each key and value is accepted, but not all of them together.
  bool refused_together = false;
};

/// Something that can be wrong with settings, as data: when it is, and what is said then.
struct Diagnostic {
  /// Stable, for machines.
  std::string_view id;
  bool (*holds)(const ReadSettings& settings) = nullptr;
  /// What is wrong and the way out, for people; only where it holds.
  std::string (*sentence)(const ReadSettings& settings) = nullptr;
};

/// All of them, in the order in which they are told.
[[nodiscard]] std::span<const Diagnostic> all_diagnostics();

/// One that holds.
struct SettingsRemark {
  std::string_view id;
  std::string text;
};

/// What is to be said of settings: why they are refused and what would be accepted, which keys do
/// nothing, which do harm. Nothing, of an allocator that is no caching allocator.
[[nodiscard]] std::vector<SettingsRemark> diagnose(const SettingsCase& settings);

}  // namespace fragcast
