// The caching allocator's search against a slow one that is obviously right: of all free blocks of
// the request's stream and pool, the smallest that is large enough, and of those the first.

#include <fmt/format.h>

#include <optional>
#include <tuple>

#include "tests/support/catch.hpp"
#include "tests/support/properties.hpp"

namespace fragcast {
namespace {

/// What torch_npu makes of a request on an Ascend910B under default settings.
Bytes rounded(Bytes request) { return round_up(request + 32_B, 512_B); }

std::optional<BlockPicture> best_fit(const Layout& layout, StreamId stream, Bytes size) {
  const PoolKind kind = size <= 1_MiB ? PoolKind::small : PoolKind::large;
  std::optional<BlockPicture> best;
  for (const SegmentPicture& segment : layout.segments) {
    if (segment.stream != stream || segment.kind != kind) continue;
    for (const BlockPicture& block : segment.blocks) {
      if (block.state != BlockState::free || block.size < size) continue;
      if (!best || std::tie(block.size, block.address) < std::tie(best->size, best->address)) {
        best = block;
      }
    }
  }
  return best;
}

Bytes size_after_split(Bytes block, Bytes request) {
  const Bytes rest = block - request;
  const bool splits = request <= 1_MiB ? rest >= 512_B : rest > 1_MiB;
  return splits ? request : block;
}

bool lies_in(const Layout& layout, Address address) {
  for (const SegmentPicture& segment : layout.segments) {
    if (segment.extent().contains(address)) return true;
  }
  return false;
}

/// Compares each placement with what the heap before it leads one to expect.
class BestFitCheck {
 public:
  std::string look(Session& session, const Event& event, const EventResult& result) {
    std::string wrong;
    if (result.kind == EventResult::Kind::placed && event.size > Bytes{0}) {
      wrong = check(event, result.placement);
    }
    before_ = session.model().layout();
    return wrong;
  }

 private:
  std::string check(const Event& event, const Placement& placed) const {
    const Bytes size = rounded(event.size);
    const auto expected = best_fit(before_, event.stream, size);
    if (!expected) {
      return lies_in(before_, placed.address) ? "no free block fits, yet one was taken" : "";
    }
    if (placed.address != expected->address) {
      return fmt::format(
          "{:#x} was taken, {:#x} fits best", placed.address.value(), expected->address.value());
    }
    return placed.size == size_after_split(expected->size, size) ? "" : "split the wrong way";
  }

  Layout before_;
};

}  // namespace

TEST_CASE("the search finds what a linear scan finds", "[property]") {
  const ModelEntry* model = find_model("npu-caching");
  REQUIRE(model != nullptr);
  Trials trials{.shape = {.streams = 3, .empty_caches = true, .settings_changes = {}},
                .conditions = {},
                .seeds = 100};
  trials.conditions.device_memory = 64_GiB;
  check_property(trials, [&](const Trace& trace) {
    BestFitCheck check;
    return replay_looking(
        trace, *model, [&](Session& session, const Event& event, const EventResult& result) {
          return check.look(session, event, result);
        });
  });
}

}  // namespace fragcast
