// make_snapshot --like cuda|npu --events N [--seed S] --out FILE
//
// Writes a generated snapshot (snapshot_generator.hpp) to a file.

#include <fmt/core.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/snapshot_generator.hpp"

namespace fragcast {
namespace {

struct Options {
  SnapshotSize size;
  std::string out;
};

Options parse(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
    const std::string& name = arguments[i];
    const std::string& value = arguments[i + 1];
    if (name == "--like" && (value == "cuda" || value == "npu")) {
      options.size.style = value == "npu" ? SnapshotStyle::npu : SnapshotStyle::cuda;
    } else if (name == "--events") {
      options.size.events = std::stoll(value);
    } else if (name == "--seed") {
      options.size.seed = static_cast<unsigned>(std::stoul(value));
    } else if (name == "--out") {
      options.out = value;
    } else {
      throw std::invalid_argument{fmt::format("{} {}", name, value)};
    }
  }
  if (options.out.empty() || options.size.events <= 0 || arguments.size() % 2 != 0) {
    throw std::invalid_argument{"--events and --out are needed"};
  }
  return options;
}

}  // namespace
}  // namespace fragcast

int main(int argc, char** argv) {
  try {
    const fragcast::Options options = fragcast::parse({argv + 1, argv + argc});
    std::ofstream out{options.out, std::ios::binary};
    fragcast::generate_snapshot(options.size, out);
    out.close();
    if (!out) throw std::runtime_error{options.out + " cannot be written"};
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    fmt::print(stderr,
               "make_snapshot: {}\n"
               "usage: make_snapshot --like cuda|npu --events N [--seed S] --out FILE\n",
               error.what());
    return 2;
  }
}
