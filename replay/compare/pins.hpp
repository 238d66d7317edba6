#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "replay/trace/trace.hpp"
#include "sim/observe/layout.hpp"

namespace fragcast {

/// A call site, by what its blocks keep from being given back.
struct Pin {
  /// The frame that stands for the site; absent: blocks of which no stack was recorded.
  std::optional<FrameId> site;
  /// Segments (of expandable ranges: pages) that are partly free and in which nothing but blocks of
  /// this site lives.
  std::size_t segments = 0;
  /// What its blocks take there, and what is free beside them.
  Bytes held;
  Bytes free;
};

/// Who pins most: the sites in order of the free bytes beside their blocks, at most `count`.
/// Segments in which blocks of several sites live count for none of them.
[[nodiscard]] std::vector<Pin> find_pins(const Layout& heap, const Trace& trace, std::size_t count);

}  // namespace fragcast
