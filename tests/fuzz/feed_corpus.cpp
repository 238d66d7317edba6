#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

// Stands in for libFuzzer in ordinary builds: feeds every file of the given folders to the target
// once. A finding is a crash, as it is under libFuzzer.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator{folder}) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::uint8_t> contents(const fs::path& file) {
  std::ifstream input{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{input}, std::istreambuf_iterator<char>{}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<fs::path> folders(argv + 1, argv + argc);
  std::size_t count = 0;
  for (const fs::path& folder : folders) {
    for (const fs::path& file : files_in(folder)) {
      fmt::print("{}\n", file.filename().string());
      const std::vector<std::uint8_t> input = contents(file);
      LLVMFuzzerTestOneInput(input.data(), input.size());
      ++count;
    }
  }
  fmt::print("{} inputs\n", count);
  return count > 0 ? 0 : 1;  // an empty corpus would test nothing
}
