#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/trace/id_index.hpp"

namespace fragcast {

/// Texts, stored once each and numbered from 0 in order of first sight. `Id` is a StrongId.
template <class Id>
class TextTable {
 public:
  /// The number of `text`, which is copied if it is new.
  Id intern(std::string_view text) {
    return index_.find_or_add(
        std::hash<std::string_view>{}(text),
        [&](Id id) { return (*this)[id] == text; },
        [&] {
          letters_.append(text);
          ends_.push_back(letters_.size());
          return Id{ends_.size() - 1};
        });
  }

  /// Valid until the next `intern`.
  [[nodiscard]] std::string_view operator[](Id id) const {
    const std::size_t begin = id.index() == 0 ? 0 : ends_[id.index() - 1];
    return std::string_view{letters_}.substr(begin, ends_[id.index()] - begin);
  }

  [[nodiscard]] std::size_t size() const { return ends_.size(); }

 private:
  std::string letters_;
  std::vector<std::size_t> ends_;
  IdIndex<Id> index_;
};

}  // namespace fragcast
