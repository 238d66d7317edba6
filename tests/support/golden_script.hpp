#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "replay/engine/run_spec.hpp"
#include "replay/report/expected.hpp"

namespace fragcast {

/// A script and what the real allocator answered to it.
struct GoldenScript {
  std::filesystem::path script;
  std::filesystem::path answers;
};

/// The scripts of a directory (`NAME.txt.gz` beside `NAME.jsonl.gz`) in order of name.
[[nodiscard]] std::vector<GoldenScript> golden_scripts(const std::filesystem::path& directory);

/// Replays a script and compares all answers; under settings of its own, unless others are given.
/// Empty if nothing differs, else the first difference for people, or why the model's own check
/// failed.
[[nodiscard]] std::string run_golden_script(const GoldenScript& golden,
                                            const RunSpec& spec,
                                            CheckInterval checks);

}  // namespace fragcast
