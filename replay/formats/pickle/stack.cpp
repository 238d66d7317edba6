#include "replay/formats/pickle/stack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

namespace fragcast {
namespace {

std::string_view name_of(PickleObject::Kind kind) {
  switch (kind) {
    case PickleObject::Kind::dict:
      return "dict";
    case PickleObject::Kind::list:
      return "list";
    case PickleObject::Kind::tuple:
      return "tuple";
  }
  return "object";
}

std::optional<PickleText> as_key(PickleValue value) {
  if (value.kind() != PickleKind::text) return std::nullopt;
  return value.text();
}

}  // namespace

void PickleValueStack::grow_and_push(PickleValue value) {
  values_.resize(std::max<std::size_t>(64, 2 * values_.size()));
  values_[size_++] = value;
}

void PickleStack::need(std::size_t values) const {
  if (stack_.size() - floor() < values) throw PickleFault{"finds too few values on the stack"};
}

std::size_t PickleStack::pop_mark() {
  if (marks_.empty()) throw PickleFault{"finds no mark on the stack"};
  const std::size_t height = marks_.back();
  marks_.pop_back();
  return height;
}

void PickleStack::drop_from(std::size_t first) {
  for (const PickleValue value : stack_.above(first)) {
    if (value.is_object() && !slot(value).shared) release(value, {});
  }
  stack_.shrink(first);
}

void PickleStack::pop() {
  if (!marks_.empty() && marks_.back() == stack_.size()) {
    marks_.pop_back();
  } else {
    need(1);
    drop_from(stack_.size() - 1);
  }
}

void PickleStack::pop_to_mark() { drop_from(pop_mark()); }

void PickleStack::push_object(PickleObject::Kind kind, std::uint64_t begin) {
  // Neither a dict nor a list can be a key, so a dict right below has got all of its keys.
  if (kind != PickleObject::Kind::tuple && stack_.size() > floor() && stack_.back().is_object() &&
      slot(stack_.back()).object.kind == PickleObject::Kind::dict) {
    stack_.back() = finish(stack_.back());
  }
  if (free_slots_.empty()) {
    if (slots_.size() == most_objects) {
      throw PickleFault{fmt::format("is nested deeper than {} objects", most_objects)};
    }
    free_slots_.push_back(slots_.size());
    slots_.emplace_back();
  }
  const std::size_t index = free_slots_.back();
  free_slots_.pop_back();
  slots_[index].object.kind = kind;
  slots_[index].object.begin = begin;
  push({PickleKind::object, index});
}

PickleStack::Slot* PickleStack::open_slot(std::size_t at) {
  if (!stack_[at].is_object()) return nullptr;
  Slot& found = slot(stack_[at]);
  return found.finished ? nullptr : &found;
}

PickleObject& PickleStack::target(std::size_t at, PickleObject::Kind kind) {
  if (at == floor()) throw PickleFault{fmt::format("finds no {} to add to", name_of(kind))};
  const PickleValue value = stack_[at - 1];
  Slot* found = open_slot(at - 1);
  if (found == nullptr && (value.is_object() || value.is_handle())) {
    throw PickleFault{
        "changes an object that is already part of another, as a structure that holds itself "
        "would"};
  }
  if (found == nullptr || found->object.kind != kind) {
    throw PickleFault{fmt::format("finds no {} to add to", name_of(kind))};
  }
  return found->object;
}

PickleValue PickleStack::finish_object(PickleValue object, std::optional<PickleText> key) {
  Slot& found = slot(object);
  if (!found.finished) release(object, builder_.finish(found.object, key));
  return found.becomes;
}

void PickleStack::release(PickleValue object, PickleValue becomes) {
  Slot& gone = slot(object);
  gone.becomes = becomes;
  gone.object.items.clear();
  if (gone.memo && memo_[*gone.memo] == object) memo_[*gone.memo] = becomes;
  if (gone.shared) {
    gone.finished = true;
    return;
  }
  gone.memo.reset();
  free_slots_.push_back(object.payload());
}

void PickleStack::append() {
  need(1);
  append_from(stack_.size() - 1);
}

void PickleStack::append_to_mark() { append_from(pop_mark()); }

void PickleStack::append_from(std::size_t first) {
  for (PickleValue& value : stack_.above(first)) value = finish(value);
  builder_.append(target(first, PickleObject::Kind::list), stack_.above(first));
  stack_.shrink(first);
}

void PickleStack::set_item() {
  need(2);
  set_items_from(stack_.size() - 2);
}

void PickleStack::set_items_to_mark() { set_items_from(pop_mark()); }

void PickleStack::set_items_from(std::size_t first) {
  if ((stack_.size() - first) % 2 != 0) throw PickleFault{"finds a key without a value"};
  for (std::size_t i = first; i < stack_.size(); i += 2) {
    stack_[i] = finish(stack_[i]);
    if (stack_[i + 1].is_object()) {
      stack_[i + 1] = finish_object(stack_[i + 1], as_key(stack_[i]));
    }
  }
  std::vector<PickleValue>& items = target(first, PickleObject::Kind::dict).items;
  const auto added = stack_.above(first);
  items.insert(items.end(), added.begin(), added.end());
  stack_.shrink(first);
}

void PickleStack::make_tuple(std::size_t n, std::uint64_t begin) {
  need(n);
  const std::size_t first = stack_.size() - n;
  for (PickleValue& value : stack_.above(first)) value = finish(value);
  push_object(PickleObject::Kind::tuple, begin);
  const PickleValue tuple = stack_.back();
  const auto items = stack_.above(first).first(n);
  slot(tuple).object.items.assign(items.begin(), items.end());
  stack_.shrink(first);
  push(tuple);
}

void PickleStack::make_tuple_to_mark(std::uint64_t begin) {
  make_tuple(stack_.size() - pop_mark(), begin);
}

void PickleStack::put(std::size_t index, std::size_t most) {
  need(1);
  if (index > most) throw PickleFault{fmt::format("makes memo entry {} too early", index)};
  const PickleValue value = stack_.back();
  while (memo_.size() <= index) memo_.push_back({});
  memo_[index] = value;
  if (!value.is_object()) return;
  Slot& found = slot(value);
  found.shared = found.shared || found.memo.has_value();
  found.memo = index;
}

void PickleStack::get_open(std::size_t index) {
  if (index >= memo_.size() || !memo_[index].is_object()) {
    throw PickleFault{"asks for a memo entry never made"};
  }
  Slot& found = slot(memo_[index]);
  found.shared = true;
  push(found.finished ? found.becomes : memo_[index]);
}

PickleObject* PickleStack::outermost() {
  if (stack_.empty()) return nullptr;
  Slot* found = open_slot(stack_.size() - 1);
  return found == nullptr ? nullptr : &found->object;
}

void PickleStack::close() {
  try {
    while (!marks_.empty()) close_mark();
    if (!stack_.empty()) drop_from(1);
  } catch (const PickleFault&) {
    // What was about to be added to itself cannot be closed.
    marks_.clear();
    stack_.shrink(0);
  }
}

void PickleStack::close_mark() {
  const std::size_t first = pop_mark();
  if (stack_.size() > first) {
    // A dict without keys is one that was about to get them.
    const Slot* top = open_slot(stack_.size() - 1);
    if (top != nullptr && top->object.kind == PickleObject::Kind::dict &&
        top->object.items.empty()) {
      drop_from(stack_.size() - 1);
    }
  }
  const Slot* below = first > floor() ? open_slot(first - 1) : nullptr;
  if (below == nullptr) {
    drop_from(first);  // items of a tuple
  } else if (below->object.kind == PickleObject::Kind::list) {
    append_from(first);
  } else if (first == 1) {
    close_outermost(first);
  } else {
    drop_from(first - 1);
  }
}

void PickleStack::close_outermost(std::size_t first) {
  // A list's only item is added without a mark; no two objects follow each other otherwise.
  while (stack_.size() >= first + 2 && stack_.back().is_object() &&
         open_slot(stack_.size() - 2) != nullptr) {
    append();
  }
  if ((stack_.size() - first) % 2 != 0) push({PickleKind::none, 0});
  set_items_from(first);
}

}  // namespace fragcast
