#pragma once

#include <string>
#include <string_view>

namespace fragcast {

/// The bytes as one gzip member, or as one zstd frame.
[[nodiscard]] std::string gzipped(std::string_view bytes);
[[nodiscard]] std::string zstd_compressed(std::string_view bytes);

/// The bytes within a page, as torch's _memory_viz writes it: padded with zeros to whole groups.
[[nodiscard]] std::string in_page(std::string_view bytes);

}  // namespace fragcast
