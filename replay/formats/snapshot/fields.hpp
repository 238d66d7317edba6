#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "replay/formats/byte_source.hpp"
#include "replay/formats/pickle/builder.hpp"
#include "replay/formats/pickle/tables.hpp"
#include "replay/formats/snapshot/handles.hpp"
#include "sim/core/address.hpp"
#include "sim/core/bytes.hpp"

namespace fragcast {

/// Turns the values of a snapshot's dicts into quantities. Each function throws InputError, with
/// the dict's position, what it describes, and the key, for a value of another type or range.
///
/// A future torch may put records of another make under keys that nobody reads yet. So what is
/// wrong with a record is set aside, and the `broken` handle that stands for it throws that error
/// again where something needs the record.
class SnapshotFields {
 public:
  /// Both must outlive it.
  SnapshotFields(const PickleTables& tables, const ByteSource& source)
      : tables_{tables}, source_{source} {}

  /// From now on it is about this dict, "history entry" or the like.
  void enter(std::string_view what, const PickleObject& dict) {
    what_ = what;
    begin_ = dict.begin;
  }

  /// 0 … 2^63 − 1.
  [[nodiscard]] Bytes bytes(PickleText key, PickleValue value) const;
  /// Any 64 bits; negative numbers are addresses that were cast.
  [[nodiscard]] Address address(PickleText key, PickleValue value) const;
  /// Any 64 bits.
  [[nodiscard]] std::uint64_t word(PickleText key, PickleValue value) const;
  [[nodiscard]] std::int64_t integer(PickleText key, PickleValue value) const;
  /// 0 … 2^31 − 1.
  [[nodiscard]] int device(PickleText key, PickleValue value) const;
  [[nodiscard]] double real(PickleText key, PickleValue value) const;
  [[nodiscard]] bool boolean(PickleText key, PickleValue value) const;
  /// Valid until the next text is made.
  [[nodiscard]] std::string_view text(PickleText key, PickleValue value) const;
  [[nodiscard]] PickleText text_number(PickleText key, PickleValue value) const;
  /// The number of a handle of this kind; `wanted` says in words what that is.
  [[nodiscard]] std::uint64_t number(PickleText key,
                                     PickleValue value,
                                     Handle kind,
                                     std::string_view wanted) const;

  /// The dict entered last is at fault: "the WHAT here SENTENCE".
  [[noreturn]] void fail(std::string_view sentence) const;
  /// The value of `key`, or an item if there is no key, is not `wanted`. Throws what is wrong with
  /// it, if that is known.
  [[noreturn]] void fail_value(std::string_view key,
                               PickleValue value,
                               std::string_view wanted) const;
  [[noreturn]] void fail_item(PickleValue item, std::string_view wanted) const;

  [[nodiscard]] PickleValue set_aside(const InputError& error);

 private:
  /// So that a hostile file cannot pile them up; later ones are told as the last of these.
  static constexpr std::size_t most_kept = 1000;

  [[noreturn]] void fail_value(PickleText key, PickleValue value, std::string_view wanted) const {
    fail_value(tables_.texts()[key], value, wanted);
  }
  void throw_if_broken(PickleValue value) const;
  const PickleTables& tables_;
  const ByteSource& source_;
  std::string_view what_ = "snapshot";
  std::uint64_t begin_ = 0;
  std::vector<InputError> broken_;
};

}  // namespace fragcast
