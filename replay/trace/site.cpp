#include "replay/trace/site.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace fragcast {
namespace {

template <std::size_t N>
bool contains_any(std::string_view text, const std::array<std::string_view, N>& parts) {
  return std::any_of(parts.begin(), parts.end(), [text](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

/// Library code, by the folders that it is installed in and the names of frozen modules.
bool is_library(std::string_view file) {
  static constexpr std::array<std::string_view, 8> marks{"site-packages/",
                                                         "dist-packages/",
                                                         "site-packages\\",
                                                         "/torch/",
                                                         "/torch_npu/",
                                                         "/lib/python3",
                                                         "<frozen ",
                                                         "<string>"};
  return contains_any(file, marks);
}

/// Compiled code: without a file, or with that of a shared library or of a source in C or C++.
bool is_native(std::string_view file) {
  static constexpr std::array<std::string_view, 6> endings{".cpp", ".cc", ".c", ".h", ".o", ".so"};
  if (file.empty() || file == "??" || file.find(".so.") != std::string_view::npos) return true;
  return std::any_of(endings.begin(), endings.end(), [file](std::string_view ending) {
    return file.size() > ending.size() && file.substr(file.size() - ending.size()) == ending;
  });
}

/// What lies between an operator and the allocator in a stack of compiled code.
bool is_plumbing(std::string_view function) {
  static constexpr std::array<std::string_view, 6> marks{"CachingAllocator",
                                                         "torch::unwind",
                                                         "CapturedTraceback",
                                                         "gather",
                                                         "empty_generic",
                                                         "StorageImpl"};
  return function.empty() || function == "??" || contains_any(function, marks);
}

}  // namespace

bool is_users_own(const CallStacks& stacks, FrameId frame) {
  const std::string_view file = stacks.text(stacks.frame(frame).file);
  return !is_native(file) && !is_library(file);
}

std::optional<FrameId> call_site(const CallStacks& stacks, StackId stack) {
  std::optional<FrameId> compiled;
  std::optional<FrameId> library;
  for (StackId at = stack; at != StackId{}; at = stacks.caller(at)) {
    const FrameId id = stacks.innermost(at);
    const Frame& frame = stacks.frame(id);
    const std::string_view file = stacks.text(frame.file);
    if (is_native(file)) {
      if (!compiled && !is_plumbing(stacks.text(frame.function))) compiled = id;
    } else if (!is_library(file)) {
      return id;
    } else if (!library) {
      library = id;
    }
  }
  return library ? library : compiled;
}

}  // namespace fragcast
