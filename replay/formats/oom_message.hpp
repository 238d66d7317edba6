#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "replay/formats/printed_size.hpp"

namespace fragcast {

/// How an out-of-memory message is worded. Of CUDA's, each says which torch words it so.
enum class OomWording : std::uint8_t {
  npu,
  npu_rejected,        ///< refused before the device was asked
  cuda_cached,         ///< torch up to 1.3: what is cached and free
  cuda_reserved,       ///< 1.4 to 1.9: all that is reserved
  cuda_reserved_hint,  ///< 1.10 to 2.0: the same with a hint at max_split_size_mb
  cuda_unallocated,    ///< 2.1: sentences; what is reserved but unallocated
  cuda_expandable,     ///< from 2.2 on: with a hint at expandable_segments
  cuda_private_pools,  ///< from 2.4 on: and what is allocated in private pools
  cuda_driver,         ///< no allocator's: the driver's own error, without figures
};

/// The figures that a message can hold.
enum class OomFigure : std::uint8_t {
  tried,             ///< what the device was asked for: a segment
  requested,         ///< of a rejection: what the program asked for
  total,             ///< of the device
  free,              ///< of the device, after the failure
  allowed,           ///< the limit that a memory fraction sets
  allocated,         ///< in blocks; of cuda_private_pools, with what is free in private pools
  active,            ///< allocated, and freed while other streams still use it
  reserved,          ///< in segments
  cached,            ///< reserved and not allocated
  unallocated,       ///< the same, without what is free in private pools
  in_private_pools,  ///< free in private pools
  process,           ///< used by this process, in the allocator or not
  other_processes,   ///< used by processes that are named, together
};
inline constexpr std::size_t oom_figure_count = 13;

/// An out-of-memory message with the figures that it prints.
struct OomMessage {
  OomWording wording = OomWording::npu;
  std::optional<int> device;
  /// By OomFigure.
  std::array<std::optional<PrintedSize>, oom_figure_count> figures;
  /// It ends before its last figure.
  bool cut = false;

  [[nodiscard]] const std::optional<PrintedSize>& printed(OomFigure figure) const {
    return figures[static_cast<std::size_t>(figure)];
  }
  [[nodiscard]] std::optional<PrintedSize>& printed(OomFigure figure) {
    return figures[static_cast<std::size_t>(figure)];
  }
  /// What the figure can be; absent where it is not printed or impossible.
  [[nodiscard]] std::optional<SizeRange> figure(OomFigure figure) const {
    const auto& size = printed(figure);
    return size && !size->impossible ? std::optional{size->range} : std::nullopt;
  }
  [[nodiscard]] std::size_t figure_count() const {
    std::size_t count = 0;
    for (const auto& size : figures) {
      if (size) ++count;
    }
    return count;
  }

  bool operator==(const OomMessage&) const = default;
};

/// `npu`, `npu_rejected`, … as JSON has them, and for people which allocator words it so.
[[nodiscard]] std::string_view name_of(OomWording wording);
[[nodiscard]] std::string_view allocator_of(OomWording wording);
/// `tried`, `in_private_pools`, …
[[nodiscard]] std::string_view name_of(OomFigure figure);
/// "tried to allocate", "free in private pools", …
[[nodiscard]] std::string_view label_of(OomFigure figure);

}  // namespace fragcast
