#pragma once

#include <deque>
#include <vector>

namespace fragcast {

/// Owns objects that must not move and come and go all the time. Released objects are reused, so
/// that in a steady state nothing is allocated.
template <class T>
class ObjectStore {
 public:
  /// An object in its initial state. Valid until released, or until the store ends.
  [[nodiscard]] T& acquire() {
    if (spare_.empty()) return objects_.emplace_back();
    T& object = *spare_.back();
    spare_.pop_back();
    return object;
  }

  /// Takes an object back. The caller has put it into its initial state.
  void release(T& object) { spare_.push_back(&object); }

  /// Objects acquired and not released.
  [[nodiscard]] std::size_t live() const { return objects_.size() - spare_.size(); }

 private:
  std::deque<T> objects_;
  std::vector<T*> spare_;
};

}  // namespace fragcast
