#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace fragcast {

/// `relative` (such as "traces/npu_training.pickle") in the directory of recordings, which the
/// environment variable FRAGCAST_RECORDINGS names. Where it is not there, says so and returns
/// nothing; a test then returns at once, and CTest counts it as skipped:
///
///     const auto file = recording("traces/npu_training.pickle");
///     if (!file) return;
[[nodiscard]] std::optional<std::filesystem::path> recording(std::string_view relative);

}  // namespace fragcast
