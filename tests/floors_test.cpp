#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/catch.hpp"

// The rules that a compiler does not enforce: which floor may include which, and how long a file
// may grow. Each test lists every file that breaks its rule.

namespace fragcast {
namespace {

namespace fs = std::filesystem;

/// From the bottom up; `bench` and `tests` share the top and may use all others.
constexpr std::array<std::string_view, 3> floors{"sim", "policies", "replay"};
constexpr std::array<std::string_view, 2> roofs{"bench", "tests"};

struct SourceFile {
  /// From the root of the sources, such as "sim/core/bytes.hpp".
  std::string path;
  std::vector<std::string> lines;

  [[nodiscard]] bool in(std::string_view folder) const {
    return path.starts_with(fmt::format("{}/", folder));
  }
  [[nodiscard]] bool is_header() const { return path.ends_with(".hpp"); }
  /// What it includes, as written between the quotes or angle brackets.
  [[nodiscard]] std::vector<std::string> includes() const;
};

std::vector<std::string> SourceFile::includes() const {
  constexpr std::string_view directive = "#include ";
  std::vector<std::string> result;
  for (const std::string& line : lines) {
    if (!line.starts_with(directive)) continue;
    const std::size_t begin = directive.size() + 1;
    const std::size_t end = line.find_first_of("\">", begin);
    if (end != std::string::npos) result.push_back(line.substr(begin, end - begin));
  }
  return result;
}

SourceFile read_source(const fs::path& root, const fs::path& file) {
  SourceFile source{.path = fs::relative(file, root).generic_string(), .lines = {}};
  std::ifstream input{file};
  for (std::string line; std::getline(input, line);) source.lines.push_back(line);
  return source;
}

/// All headers and sources, sorted by path.
std::vector<SourceFile> all_sources() {
  const fs::path root{FRAGCAST_SOURCE_DIR};
  std::vector<SourceFile> result;
  const auto read_folder = [&](std::string_view folder) {
    if (!fs::exists(root / folder)) return;
    for (const auto& entry : fs::recursive_directory_iterator{root / folder}) {
      const fs::path extension = entry.path().extension();
      if (extension == ".hpp" || extension == ".cpp") {
        result.push_back(read_source(root, entry.path()));
      }
    }
  };
  std::for_each(floors.begin(), floors.end(), read_folder);
  std::for_each(roofs.begin(), roofs.end(), read_folder);
  std::sort(result.begin(), result.end(), [](const SourceFile& a, const SourceFile& b) {
    return a.path < b.path;
  });
  return result;
}

/// The number of the floor a path lies on, or of the roof.
std::size_t floor_of(std::string_view path) {
  const auto lies_in = [&](std::string_view floor) {
    return path.starts_with(fmt::format("{}/", floor));
  };
  return static_cast<std::size_t>(std::find_if(floors.begin(), floors.end(), lies_in) -
                                  floors.begin());
}

bool is_ours(std::string_view include) {
  const auto is_in = [&](std::string_view folder) {
    return include.starts_with(fmt::format("{}/", folder));
  };
  return std::any_of(floors.begin(), floors.end(), is_in) ||
         std::any_of(roofs.begin(), roofs.end(), is_in);
}

/// "FILE includes INCLUDE" for every include that `forbidden` says is not allowed there.
template <class Forbidden>
std::vector<std::string> find_includes(Forbidden forbidden) {
  std::vector<std::string> found;
  for (const SourceFile& file : all_sources()) {
    for (const std::string& include : file.includes()) {
      if (forbidden(file, include))
        found.push_back(fmt::format("{} includes {}", file.path, include));
    }
  }
  return found;
}

using Findings = std::vector<std::string>;

}  // namespace

TEST_CASE("every floor has sources and a README", "[floors]") {
  const std::vector<SourceFile> sources = all_sources();
  for (const std::string_view floor : floors) {
    INFO(floor);
    CHECK(std::any_of(
        sources.begin(), sources.end(), [&](const SourceFile& f) { return f.in(floor); }));
  }
  for (const std::string_view folder :
       {"sim", "policies", "replay", "bench", "tests", "scenarios"}) {
    INFO(folder);
    CHECK(fs::exists(fs::path{FRAGCAST_SOURCE_DIR} / folder / "README.md"));
  }
}

TEST_CASE("a floor includes itself and those below it, never one above", "[floors]") {
  CHECK(find_includes([](const SourceFile& file, std::string_view include) {
          return is_ours(include) && floor_of(include) > floor_of(file.path);
        }) == Findings{});
}

TEST_CASE("our own headers are included from the root of the sources", "[floors]") {
  const fs::path root{FRAGCAST_SOURCE_DIR};
  CHECK(find_includes([&](const SourceFile& file, std::string_view include) {
          const bool lies_beside = fs::exists(root / fs::path{file.path}.parent_path() / include);
          return include.starts_with("..") || (lies_beside && !fs::exists(root / include));
        }) == Findings{});
}

TEST_CASE("Boost.Program_options stays in the command line and in scenarios", "[floors]") {
  CHECK(find_includes([](const SourceFile& file, std::string_view include) {
          return include.starts_with("boost/program_options") && !file.in("replay/cli") &&
                 !file.in("replay/scenario");
        }) == Findings{});
}

TEST_CASE("headers include nothing of nlohmann/json but its names", "[floors]") {
  CHECK(find_includes([](const SourceFile& file, std::string_view include) {
          return include.starts_with("nlohmann/") && include != "nlohmann/json_fwd.hpp" &&
                 file.is_header();
        }) == Findings{});
}

TEST_CASE("range-v3 is included by single headers", "[floors]") {
  CHECK(find_includes([](const SourceFile&, std::string_view include) {
          return include == "range/v3/all.hpp" || include == "range/v3/view.hpp";
        }) == Findings{});
}

TEST_CASE("Catch2 is included through tests/support/catch.hpp only", "[floors]") {
  CHECK(find_includes([](const SourceFile& file, std::string_view include) {
          return include.starts_with("catch2/") && file.path != "tests/support/catch.hpp";
        }) == Findings{});
}

TEST_CASE("every header guards itself with #pragma once", "[floors]") {
  Findings found;
  for (const SourceFile& file : all_sources()) {
    const bool guarded =
        std::find(file.lines.begin(), file.lines.end(), "#pragma once") != file.lines.end();
    if (file.is_header() && !guarded) found.push_back(file.path);
  }
  CHECK(found == Findings{});
}

TEST_CASE("headers have at most 150 lines and sources at most 500", "[floors]") {
  Findings found;
  for (const SourceFile& file : all_sources()) {
    // A test file is a list of cases, which may be longer.
    const std::size_t limit = file.is_header() ? 150 : file.in("tests") ? 600 : 500;
    if (file.lines.size() > limit) {
      found.push_back(fmt::format("{} has {} lines", file.path, file.lines.size()));
    }
  }
  CHECK(found == Findings{});
}

}  // namespace fragcast
