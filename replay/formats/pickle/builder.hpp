#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "replay/formats/pickle/value.hpp"

namespace fragcast {

/// A dict, list or tuple of a pickle, while it is being filled.
struct PickleObject {
  enum class Kind : std::uint8_t { dict, list, tuple };

  Kind kind = Kind::dict;
  /// Position of its first byte in the pickle.
  std::uint64_t begin = 0;
  /// Of a dict the keys and values in turn. Never an `object`: whatever is put into another object
  /// was finished before.
  std::vector<PickleValue> items;
};

/// Decides what becomes of a pickle's objects. This is what bounds memory: an object is finished as
/// soon as nothing can be added to it, and from then on the pickle knows only the value that
/// `finish` returned, while the object's own memory is used for the next.
class PickleBuilder {
 public:
  PickleBuilder() = default;
  PickleBuilder(const PickleBuilder&) = delete;
  PickleBuilder& operator=(const PickleBuilder&) = delete;
  virtual ~PickleBuilder() = default;

  /// Adds `items` to the end of `list`. Called with batches of a long list, too.
  virtual void append(PickleObject& list, std::span<const PickleValue> items) {
    list.items.insert(list.items.end(), items.begin(), items.end());
  }

  /// What stands for `object` from now on, in the object it becomes part of and wherever else the
  /// pickle refers to it: any value but an `object`. Called once for each object but the outermost.
  /// `key` is its name where it becomes part of a dict.
  [[nodiscard]] virtual PickleValue finish(PickleObject& object, std::optional<PickleText> key) = 0;
};

}  // namespace fragcast
