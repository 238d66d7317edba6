#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "replay/formats/pickle/machine.hpp"

namespace fragcast {

/// Renders a pickle's objects as Python would print them; an object that is finished is an item in
/// `texts`, cut short so that shared objects cannot make it long.
class TextBuilder final : public PickleBuilder {
 public:
  explicit TextBuilder(const PickleTables& tables) : tables_{tables} {}

  [[nodiscard]] PickleValue finish(PickleObject& object, std::optional<PickleText> key) override;

  [[nodiscard]] std::string text(const PickleObject& object) const;
  [[nodiscard]] std::string text(PickleValue value) const;
  /// How many objects were finished.
  [[nodiscard]] std::size_t finished() const { return texts_.size(); }

 private:
  const PickleTables& tables_;
  std::vector<std::string> texts_;
};

/// What a pickle holds, as text, in the machine's own terms.
struct LoadedPickle {
  /// Of the outermost object; empty if that is none.
  std::string text;
  PickleEnd end;
  std::size_t finished = 0;
  /// Bytes of the input that were used.
  std::uint64_t used = 0;
};

/// Runs a pickle; one that is cut is closed. Throws InputError.
[[nodiscard]] LoadedPickle load_pickle(std::string_view bytes);

}  // namespace fragcast
