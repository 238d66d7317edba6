#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace fragcast {

/// Finds dense ids by what they stand for: a hash table that holds ids only, while the things
/// themselves lie in a sequence of the owner's. Open addressing, at most half full.
template <class Id>
class IdIndex {
 public:
  /// The id for which `same(id)` holds among those filed under `hash`; else the result of `make()`,
  /// a new id, which is filed there. The upper half of `hash` must be well mixed.
  template <class Same, class Make>
  Id find_or_add(std::uint64_t hash, Same same, Make make) {
    if (slots_.size() < 2 * (count_ + 1)) grow();
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    std::size_t at = home(tag);
    for (; slots_[at].id_plus_one != 0; at = next(at)) {
      const Id id{slots_[at].id_plus_one - 1};
      if (slots_[at].tag == tag && same(id)) return id;
    }
    const Id id = make();
    slots_[at] = {.tag = tag, .id_plus_one = id.value() + 1};
    ++count_;
    return id;
  }

 private:
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t id_plus_one = 0;
  };

  [[nodiscard]] std::size_t home(std::uint32_t tag) const { return tag & (slots_.size() - 1); }
  [[nodiscard]] std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }

  void grow() {
    std::vector<Slot> before(slots_.empty() ? first_size : 2 * slots_.size());
    std::swap(slots_, before);
    for (const Slot& slot : before) {
      if (slot.id_plus_one == 0) continue;
      std::size_t at = home(slot.tag);
      while (slots_[at].id_plus_one != 0) at = next(at);
      slots_[at] = slot;
    }
  }

  static constexpr std::size_t first_size = 64;

  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

/// Spreads the bits of a number over all 64, for IdIndex.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0x9e3779b97f4a7c15U;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9U;
  return x ^ (x >> 32);
}

}  // namespace fragcast
