#pragma once

#include <memory>

#include "replay/formats/byte_source.hpp"
#include "replay/formats/bytes/byte_stream.hpp"

namespace fragcast {

/// What the gzip members at the window of `inner` decompress to. Zeros behind them are ignored.
[[nodiscard]] std::unique_ptr<ByteStream> gunzip(ByteSource inner);

/// What the zstd frames at the window of `inner` decompress to.
[[nodiscard]] std::unique_ptr<ByteStream> unzstd(ByteSource inner);

/// The first file within a page that torch's `_memory_viz` writes:
///
///     const local_files = [{"name": "snapshot.pickle", "base64": "gASV…"}]
///
/// Throws InputError from `read` where a page holds none.
[[nodiscard]] std::unique_ptr<ByteStream> embedded_file(ByteSource inner);

/// Takes off the wrappings that the first bytes show, one after another. Throws InputError if
/// nothing is in them, or if they are nested deeper than people do.
[[nodiscard]] ByteSource unwrap(ByteSource source);

}  // namespace fragcast
