#include "tests/support/pickle_text.hpp"

#include <fmt/format.h>

namespace fragcast {
namespace {

constexpr std::size_t longest = 200;
constexpr std::size_t most_items = 20;

}  // namespace

PickleValue TextBuilder::finish(PickleObject& object, std::optional<PickleText> /*key*/) {
  texts_.push_back(text(object));
  return {PickleKind::first_handle, texts_.size() - 1};
}

std::string TextBuilder::text(PickleValue value) const {
  if (value.is_handle()) return texts_[value.payload()];
  if (value.kind() == PickleKind::none) return "None";
  if (const auto flag = tables_.boolean(value)) return *flag ? "True" : "False";
  if (const auto letters = tables_.text(value)) return fmt::format("'{}'", *letters);
  if (const auto number = tables_.integer(value)) return fmt::format("{}", *number);
  if (const auto number = tables_.word(value)) return fmt::format("{}", *number);
  if (const auto number = tables_.real(value)) return fmt::format("{}", *number);
  return "?";
}

std::string TextBuilder::text(const PickleObject& object) const {
  const bool is_dict = object.kind == PickleObject::Kind::dict;
  std::string result;
  for (std::size_t i = 0; i < object.items.size() && i < most_items; ++i) {
    if (i > 0) result += is_dict && i % 2 == 1 ? ": " : ", ";
    result += text(object.items[i]);
  }
  if (object.items.size() > most_items) result += fmt::format(", … {}", object.items.size());
  if (result.size() > longest) result = result.substr(0, longest) + "…";
  switch (object.kind) {
    case PickleObject::Kind::dict:
      return "{" + result + "}";
    case PickleObject::Kind::list:
      return "[" + result + "]";
    case PickleObject::Kind::tuple:
      return "(" + result + ")";
  }
  return result;
}

LoadedPickle load_pickle(std::string_view bytes) {
  ByteSource source{memory_stream(bytes), ""};
  PickleTables tables;
  TextBuilder builder{tables};
  PickleStack stack{builder};
  LoadedPickle loaded;
  loaded.end = run_pickle(source, tables, stack);
  if (loaded.end.kind == PickleEnd::Kind::cut) stack.close();
  loaded.finished = builder.finished();
  loaded.used = source.position();
  if (const PickleObject* object = stack.outermost()) loaded.text = builder.text(*object);
  return loaded;
}

}  // namespace fragcast
