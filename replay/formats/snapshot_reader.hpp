#pragma once

#include <cstdint>
#include <string>

#include "replay/formats/byte_source.hpp"
#include "replay/formats/recording.hpp"

namespace fragcast {

/// What to do with a snapshot that was cut off.
enum class CutSnapshot : std::uint8_t {
  refuse,
  /// If it has all segments, read it as far as it goes (Recording::cut_at).
  salvage,
};

struct ReadOptions {
  CutSnapshot cut = CutSnapshot::refuse;
};

/// Whether the source, as `open_source` gives it, holds a pickle, which only snapshots are. Reads
/// ahead but consumes nothing, so that another format can be tried.
[[nodiscard]] bool looks_like_snapshot(ByteSource& source);

/// Reads a memory snapshot as torch.cuda.memory._dump_snapshot, torch_npu's like, or their C++
/// counterparts write it, of any layer (docs of Recording, SourceInfo). Throws InputError for
/// whatever is none, is damaged, or is cut; the last says how many entries could be read.
///
/// Nothing but the recording itself grows with the input, apart from 8 bytes for each object of the
/// pickle, which are freed at the end.
[[nodiscard]] Recording read_snapshot(ByteSource& source, const ReadOptions& options = {});

/// The same for a file, which may be compressed or embedded in a page (`open_source`).
[[nodiscard]] Recording read_snapshot_file(const std::string& path,
                                           const ReadOptions& options = {});

}  // namespace fragcast
