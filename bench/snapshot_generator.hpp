#pragma once

#include <cstdint>
#include <iosfwd>

namespace fragcast {

/// Whose recordings a generated snapshot resembles: in entries' keys, bytes an entry, and how
/// stacks are shared.
enum class SnapshotStyle : std::uint8_t {
  cuda,  ///< as cuda_training.pickle: 180 bytes an entry, stacks 37 deep
  npu,   ///< as npu_training.pickle: 60 bytes an entry, stacks 8 deep
};

struct SnapshotSize {
  SnapshotStyle style = SnapshotStyle::cuda;
  /// Entries of the history, or one more.
  std::int64_t events = 0;
  unsigned seed = 1;
};

/// Writes a memory snapshot of any size: a steady training loop, recorded from its middle. Weights
/// live throughout. A step allocates activations, each followed by a temporary that dies at once,
/// and frees the activations in reverse order. Every tensor has a segment of its own, which the
/// caching allocator's best fit finds again in the next step, so the recording is one that the real
/// allocator could have made. Stacks are shared as in real files: a list of frames for each
/// allocation and each free, but few frames. The same size gives the same bytes.
void generate_snapshot(const SnapshotSize& size, std::ostream& out);

}  // namespace fragcast
