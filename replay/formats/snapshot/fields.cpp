#include "replay/formats/snapshot/fields.hpp"

#include <fmt/format.h>

#include <limits>

namespace fragcast {

Bytes SnapshotFields::bytes(PickleText key, PickleValue value) const {
  const auto number = tables_.integer(value);
  if (!number || *number < 0) fail_value(key, value, "a number of bytes from 0 to 2^63 - 1");
  return Bytes{*number};
}

Address SnapshotFields::address(PickleText key, PickleValue value) const {
  return Address{word(key, value)};
}

std::uint64_t SnapshotFields::word(PickleText key, PickleValue value) const {
  const auto number = tables_.word(value);
  if (!number) fail_value(key, value, "an integer of 64 bits");
  return *number;
}

std::int64_t SnapshotFields::integer(PickleText key, PickleValue value) const {
  const auto number = tables_.integer(value);
  if (!number) fail_value(key, value, "an integer");
  return *number;
}

int SnapshotFields::device(PickleText key, PickleValue value) const {
  const auto number = tables_.integer(value);
  if (!number || *number < 0 || *number > std::numeric_limits<int>::max()) {
    fail_value(key, value, "the number of a device, from 0");
  }
  return static_cast<int>(*number);
}

double SnapshotFields::real(PickleText key, PickleValue value) const {
  const auto number = tables_.real(value);
  if (!number) fail_value(key, value, "a number");
  return *number;
}

bool SnapshotFields::boolean(PickleText key, PickleValue value) const {
  const auto flag = tables_.boolean(value);
  if (!flag) fail_value(key, value, "True or False");
  return *flag;
}

std::string_view SnapshotFields::text(PickleText key, PickleValue value) const {
  return tables_.texts()[text_number(key, value)];
}

PickleText SnapshotFields::text_number(PickleText key, PickleValue value) const {
  if (value.kind() != PickleKind::text) fail_value(key, value, "a text");
  return value.text();
}

std::uint64_t SnapshotFields::number(PickleText key,
                                     PickleValue value,
                                     Handle kind,
                                     std::string_view wanted) const {
  if (!is(value, kind)) fail_value(key, value, wanted);
  return value.payload();
}

void SnapshotFields::fail(std::string_view sentence) const {
  throw InputError{
      source_.at_byte(begin_),
      fmt::format("the {} here {}; the file is damaged or no memory snapshot: record or copy it "
                  "again",
                  what_,
                  sentence)};
}

void SnapshotFields::fail_value(std::string_view key,
                                PickleValue value,
                                std::string_view wanted) const {
  throw_if_broken(value);
  fail(fmt::format("has a `{}` that is not {}", key, wanted));
}

void SnapshotFields::fail_item(PickleValue item, std::string_view wanted) const {
  throw_if_broken(item);
  fail(fmt::format("has an item that is not {}", wanted));
}

PickleValue SnapshotFields::set_aside(const InputError& error) {
  if (broken_.size() < most_kept) broken_.push_back(error);
  return make_handle(Handle::broken, broken_.size() - 1);
}

void SnapshotFields::throw_if_broken(PickleValue value) const {
  if (is(value, Handle::broken)) throw InputError{broken_[value.payload()]};
}

}  // namespace fragcast
