#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/core/address.hpp"
#include "sim/core/strong_id.hpp"

namespace fragcast {

/// Where a block begins, and on which stream. Both, because one address may belong to two streams
/// at once (torch_npu's workspaces). Ordered by stream, then by address.
struct BlockKey {
  StreamId stream;
  Address address;
  auto operator<=>(const BlockKey&) const = default;
};

/// A map from block keys to small values, for tens of thousands of lookups a millisecond: open
/// addressing, linear probing, erased without tombstones. Pointers into it last until the next
/// insertion or erasure.
template <class T>
class AddressMap {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }

  [[nodiscard]] T* find(BlockKey key) {
    if (slots_.empty()) return nullptr;
    const std::size_t i = place_of(key);
    return slots_[i].used ? &slots_[i].value : nullptr;
  }

  /// Sets the value of `key`; true if it had none.
  bool put(BlockKey key, const T& value) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place_of(key)];
    const bool fresh = !slot.used;
    slot = {.address = key.address, .stream = key.stream, .used = true, .value = value};
    if (fresh) ++size_;
    return fresh;
  }

  void erase(BlockKey key) {
    if (slots_.empty()) return;
    std::size_t hole = place_of(key);
    if (!slots_[hole].used) return;
    --size_;
    // Whatever could not be found any more across the hole moves into it.
    for (std::size_t i = next(hole); slots_[i].used; i = next(i)) {
      const std::size_t home = home_of(slots_[i].key());
      if (((i - home) & mask()) >= ((i - hole) & mask())) {
        slots_[hole] = slots_[i];
        hole = i;
      }
    }
    slots_[hole].used = false;
  }

  /// Calls `visit(key, value)` for every entry, in no order.
  template <class Visitor>
  void for_each(Visitor visit) const {
    for (const Slot& slot : slots_) {
      if (slot.used) visit(slot.key(), slot.value);
    }
  }

 private:
  struct Slot {
    Address address;
    StreamId stream;
    bool used = false;
    T value;
    [[nodiscard]] BlockKey key() const { return {.stream = stream, .address = address}; }
  };

  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
  [[nodiscard]] std::size_t next(std::size_t i) const { return (i + 1) & mask(); }
  [[nodiscard]] std::size_t home_of(BlockKey key) const {
    // Finaliser of MurmurHash3: addresses share their low bits and most of their high ones.
    std::uint64_t h = key.address.value() + key.stream.value() * 0x9E3779B97F4A7C15ULL;
    h = (h ^ (h >> 33)) * 0xFF51AFD7ED558CCDULL;
    h = (h ^ (h >> 33)) * 0xC4CEB9FE1A85EC53ULL;
    return static_cast<std::size_t>(h ^ (h >> 33)) & mask();
  }
  /// The slot of `key`, or the empty one where it would go.
  [[nodiscard]] std::size_t place_of(BlockKey key) const {
    std::size_t i = home_of(key);
    while (slots_[i].used && slots_[i].key() != key) i = next(i);
    return i;
  }
  void grow() {
    std::vector<Slot> old = std::exchange(
        slots_, std::vector<Slot>(slots_.empty() ? std::size_t{64} : 2 * slots_.size()));
    for (const Slot& slot : old) {
      if (slot.used) slots_[place_of(slot.key())] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace fragcast
