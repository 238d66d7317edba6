#pragma once

#include <string>
#include <vector>

#include "policies/registry.hpp"
#include "tests/support/properties.hpp"

namespace fragcast {

/// A kind of use that a model is tried in.
struct Situation {
  std::string name;
  Trials trials;
};

/// For any model, with its default settings: one stream, many streams, memory that is short, pools
/// and captures.
[[nodiscard]] std::vector<Situation> common_situations();

/// For the NPU allocator: each of its settings with what it bears on.
[[nodiscard]] std::vector<Situation> npu_situations();

/// For the CUDA allocator, likewise.
[[nodiscard]] std::vector<Situation> cuda_situations();

/// The common ones, and those of the model's own settings.
[[nodiscard]] std::vector<Situation> situations_of(const ModelEntry& model);

}  // namespace fragcast
