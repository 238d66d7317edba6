#include "tests/support/golden_script.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "replay/formats/byte_source.hpp"
#include "replay/formats/call_script.hpp"
#include "sim/core/check.hpp"

namespace fragcast {
std::vector<GoldenScript> golden_scripts(const std::filesystem::path& directory) {
  constexpr std::string_view ending = ".txt.gz";
  std::vector<GoldenScript> scripts;
  for (const auto& entry : std::filesystem::directory_iterator{directory}) {
    std::string name = entry.path().filename().string();
    if (!name.ends_with(ending)) continue;
    name.resize(name.size() - ending.size());
    scripts.push_back({.script = entry.path(), .answers = directory / (name + ".jsonl.gz")});
  }
  std::sort(scripts.begin(), scripts.end(), [](const GoldenScript& a, const GoldenScript& b) {
    return a.script < b.script;
  });
  return scripts;
}

std::string run_golden_script(const GoldenScript& golden,
                              const RunSpec& spec,
                              CheckInterval checks) {
  const std::string script_file = golden.script.string();
  ByteSource script = open_source(script_file);
  const Trace trace = read_call_script([&] { return script.next_line(); }, script_file);
  try {
    const AnswerComparison comparison =
        compare_answers(trace, resolve_conditions(trace, spec), golden.answers.string(), checks);
    if (comparison.difference) return describe(*comparison.difference);
    return comparison.lines > 1 ? "" : "nothing was compared";
  } catch (const InvariantError& error) {
    return fmt::format("the model's own check failed: {}", error.what());
  }
}

}  // namespace fragcast
