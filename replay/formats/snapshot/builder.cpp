#include "replay/formats/snapshot/builder.hpp"

#include <utility>

namespace fragcast {
namespace {

/// What a dict describes.
enum class Shape : std::uint8_t { entry, segment, block, past_use, frame, annotation, unknown };

Shape shape_of(const PickleObject& dict) {
  for (std::size_t i = 0; i < dict.items.size(); i += 2) {
    if (dict.items[i].kind() != PickleKind::text) continue;
    const std::optional<Word> key = word_of(dict.items[i].text());
    if (key == Word::action) return Shape::entry;
    if (key == Word::filename) return Shape::frame;
    if (key == Word::state) return Shape::block;
    if (key == Word::blocks) return Shape::segment;
    if (key == Word::real_size) return Shape::past_use;
    if (key == Word::stage) return Shape::annotation;
  }
  return Shape::unknown;
}

bool names_pool(std::optional<PickleText> key) {
  if (!key) return false;
  const std::optional<Word> word = word_of(*key);
  return word == Word::pool_id || word == Word::segment_pool_id;
}

}  // namespace

void SnapshotBuilder::append(PickleObject& list, std::span<const PickleValue> items) {
  if (items.empty()) return;
  const PickleValue first = list.items.empty() ? items.front() : list.items.front();
  if (!is(first, Handle::entry)) {
    PickleBuilder::append(list, items);
  } else if (const auto stranger = Histories::extend(list.items, items)) {
    // One item that is no entry makes the list no history; if it is broken, that is why.
    list.items.front() = is(*stranger, Handle::broken) ? *stranger : make_handle(Handle::opaque);
  }
}

PickleValue SnapshotBuilder::finish(PickleObject& object, std::optional<PickleText> key) {
  try {
    return make_record(object, key);
  } catch (const InputError& error) {
    return fields_.set_aside(error);
  }
}

PickleValue SnapshotBuilder::make_record(PickleObject& object, std::optional<PickleText> key) {
  if (object.kind == PickleObject::Kind::dict) return finish_dict(object, key);
  if (names_pool(key)) return records_.pool(object);
  if (object.kind == PickleObject::Kind::list) return finish_list(object);
  return make_handle(Handle::opaque);
}

PickleValue SnapshotBuilder::finish_dict(const PickleObject& dict, std::optional<PickleText> key) {
  const std::optional<Word> name = key ? word_of(*key) : std::nullopt;
  if (name == Word::allocator_settings) return records_.settings(dict);
  if (name == Word::roundup_power2_divisions) return records_.divisions(dict);
  switch (shape_of(dict)) {
    case Shape::entry:
      return records_.entry(dict);
    case Shape::segment:
      return records_.segment(dict);
    case Shape::block:
      return records_.block(dict);
    case Shape::past_use:
      return records_.past_use(dict);
    case Shape::frame:
      return records_.frame(dict);
    case Shape::annotation:
      return records_.annotation(dict);
    case Shape::unknown:
      break;
  }
  return make_handle(Handle::opaque);
}

PickleValue SnapshotBuilder::finish_list(PickleObject& list) {
  if (list.items.empty()) return make_handle(Handle::empty_list);
  fields_.enter("list", list);
  const PickleValue first = list.items.front();
  if (is(first, Handle::frame)) return finish_frames(list);
  if (is(first, Handle::entry)) {
    const auto history = parts_.histories.close(list.items);
    if (!history) fields_.fail("of history entries is one too many for fragcast");
    return *history;
  }
  if (is(first, Handle::block)) return finish_blocks(list);
  if (is(first, Handle::past_use)) return make_handle(Handle::past_uses, first.payload());
  if (is(first, Handle::broken)) return first;
  const bool of_records = is(first, Handle::history) || is(first, Handle::empty_list) ||
                          is(first, Handle::segment) || is(first, Handle::annotation);
  if (!of_records) return make_handle(Handle::opaque);
  parts_.lists.push_back(std::exchange(list.items, {}));
  return make_handle(Handle::list, parts_.lists.size() - 1);
}

PickleValue SnapshotBuilder::finish_frames(const PickleObject& list) {
  frames_.clear();
  for (const PickleValue item : list.items) {
    if (!is(item, Handle::frame)) fields_.fail_item(item, "a stack frame as the others");
    frames_.emplace_back(static_cast<std::uint32_t>(item.payload()));
  }
  return make_handle(Handle::stack, parts_.recording.stacks.intern(frames_).value());
}

PickleValue SnapshotBuilder::finish_blocks(const PickleObject& list) {
  for (const PickleValue item : list.items) {
    if (!is(item, Handle::block)) fields_.fail_item(item, "a block as the others");
  }
  const auto blocks = parts_.blocks.close(list.items);
  if (!blocks) fields_.fail("holds a block of another list");
  return *blocks;
}

}  // namespace fragcast
