#include "tests/support/golden_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <fstream>
#include <istream>

#include "replay/formats/call_script.hpp"
#include "sim/core/check.hpp"

namespace fragcast {
namespace {

/// The text of a gzipped file.
class GzipText {
 public:
  explicit GzipText(const std::filesystem::path& path) : file_{path, std::ios::binary} {
    stream_.push(boost::iostreams::gzip_decompressor{});
    stream_.push(file_);
  }
  [[nodiscard]] std::istream& stream() { return stream_; }
  [[nodiscard]] std::optional<std::string_view> next_line() {
    if (!std::getline(stream_, line_)) return std::nullopt;
    return line_;
  }

 private:
  std::ifstream file_;
  boost::iostreams::filtering_istream stream_;
  std::string line_;
};

}  // namespace

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
  GzipText script{golden.script};
  const Trace trace = read_call_script(script.stream(), golden.script.string());
  GzipText answers{golden.answers};
  const LineSource next_line = [&] { return answers.next_line(); };
  try {
    const AnswerComparison comparison = compare_answers(
        trace, resolve_conditions(trace, spec), next_line, golden.answers.string(), checks);
    if (comparison.difference) return describe(*comparison.difference);
    return comparison.lines > 1 ? "" : "nothing was compared";
  } catch (const InvariantError& error) {
    return fmt::format("the model's own check failed: {}", error.what());
  }
}

}  // namespace fragcast
