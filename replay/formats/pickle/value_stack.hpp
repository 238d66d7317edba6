#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "replay/formats/pickle/value.hpp"

namespace fragcast {

/// A stack of values: a vector, but for pushing, of which a pickle mostly consists. It is a few
/// instructions, with growing out of their way.
class PickleValueStack {
 public:
  void push(PickleValue value) {
    if (size_ < values_.size()) [[likely]] {
      values_[size_++] = value;
    } else {
      grow_and_push(value);
    }
  }
  [[nodiscard]] PickleValue& back() { return values_[size_ - 1]; }
  [[nodiscard]] PickleValue& operator[](std::size_t i) { return values_[i]; }
  [[nodiscard]] PickleValue operator[](std::size_t i) const { return values_[i]; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// Drops all values from `size` on.
  void shrink(std::size_t size) { size_ = size; }
  /// The values from `first` to the top. Valid until the next push.
  [[nodiscard]] std::span<PickleValue> above(std::size_t first) {
    return std::span{values_}.subspan(first, size_ - first);
  }

 private:
  void grow_and_push(PickleValue value);

  std::vector<PickleValue> values_;
  std::size_t size_ = 0;
};

}  // namespace fragcast
