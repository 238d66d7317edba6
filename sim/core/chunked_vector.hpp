#pragma once

#include <cstddef>
#include <iterator>
#include <vector>

namespace fragcast {

/// A sequence that grows in fixed chunks: growing never holds the old and the new copy at once,
/// which is what bounds the memory of long traces. Elements never move, but for those of the first
/// chunk while it is not full: it grows by doubling, so that a short sequence is small.
template <class T>
class ChunkedVector {
 public:
  static constexpr std::size_t chunk_size = 4096;

  void push_back(const T& value) {
    if (size_ == capacity_) {
      const T copy = value;  // it may stand in the chunk that moves
      grow();
      (*this)[size_++] = copy;
    } else {
      (*this)[size_++] = value;
    }
  }

  [[nodiscard]] T& operator[](std::size_t i) { return chunks_[i / chunk_size][i % chunk_size]; }
  [[nodiscard]] const T& operator[](std::size_t i) const {
    return chunks_[i / chunk_size][i % chunk_size];
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T& back() { return (*this)[size_ - 1]; }
  [[nodiscard]] const T& back() const { return (*this)[size_ - 1]; }

  class const_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    const_iterator() = default;
    const_iterator(const ChunkedVector* owner, std::size_t index) : owner_{owner}, index_{index} {}
    reference operator*() const { return (*owner_)[index_]; }
    pointer operator->() const { return &(*owner_)[index_]; }
    const_iterator& operator++() {
      ++index_;
      return *this;
    }
    const_iterator operator++(int) {
      const_iterator before = *this;
      ++index_;
      return before;
    }
    bool operator==(const const_iterator&) const = default;

   private:
    const ChunkedVector* owner_ = nullptr;
    std::size_t index_ = 0;
  };

  [[nodiscard]] const_iterator begin() const { return {this, 0}; }
  [[nodiscard]] const_iterator end() const { return {this, size_}; }

 private:
  void grow() {
    if (capacity_ == 0 || capacity_ >= chunk_size) {
      const std::size_t room = capacity_ == 0 ? first_room : chunk_size;
      chunks_.emplace_back(room);
      capacity_ += room;
    } else {
      capacity_ *= 2;
      chunks_.front().resize(capacity_);
    }
  }

  static constexpr std::size_t first_room = 16;

  /// Each as large as it will get, but for the first.
  std::vector<std::vector<T>> chunks_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace fragcast
