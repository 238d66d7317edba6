#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "replay/formats/pickle/builder.hpp"
#include "replay/formats/pickle/value_stack.hpp"
#include "sim/core/chunked_vector.hpp"

namespace fragcast {

/// An opcode that cannot be carried out, thrown by PickleStack: `run_pickle` adds its name and
/// position and makes an InputError of it.
class PickleFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a pickle's opcodes work on: a stack of values, the marks in it, the memo by which objects
/// are shared, and the objects that are being filled.
///
///     stack   dict | mark | "segments"  list | mark | dict  dict  dict
///              0                         1             2     3     4     objects, 4 the last begun
///
/// An object is finished (PickleBuilder) when it becomes part of another, and a dict also when
/// another dict or list begins right above it, for then no key can follow any more. So however long
/// the lists, few objects are open at any time. To change an object after that, as cyclic
/// structures do, is a fault.
///
/// Memory is proportional to the number of calls: 8 bytes for each memo entry and value.
class PickleStack {
 public:
  /// Open objects at a time: a hundred times what real files need, nested lists being the worst.
  static constexpr std::size_t most_objects = 100'000;

  /// `builder` must outlive the stack.
  explicit PickleStack(PickleBuilder& builder) : builder_{builder} {}

  // Values and marks.
  void push(PickleValue value) { stack_.push(value); }
  void push_mark() { marks_.push_back(stack_.size()); }
  /// Drops the value on top, or the mark if that is.
  void pop();
  void pop_to_mark();

  // Objects. `begin` is a position in the pickle.
  void push_object(PickleObject::Kind kind, std::uint64_t begin);
  /// Adds the value on top, or all above the mark, to the list below.
  void append();
  void append_to_mark();
  /// Adds the key and value on top, or all above the mark, to the dict below.
  void set_item();
  void set_items_to_mark();
  /// Makes a tuple of the `n` values on top, or of all above the mark.
  void make_tuple(std::size_t n, std::uint64_t begin);
  void make_tuple_to_mark(std::uint64_t begin);

  // The memo.
  /// Remembers the value on top as the next entry.
  void memoize() { put(memo_.size(), memo_.size()); }
  /// Remembers it as entry `index`, a fault above `most`: entries may be left out, but not so many
  /// that the memo outgrows the pickle.
  void put(std::size_t index, std::size_t most);
  /// Pushes entry `index`.
  void get(std::size_t index) {
    if (index < memo_.size() && memo_[index].is_settled()) [[likely]] {
      push(memo_[index]);
    } else {
      get_open(index);
    }
  }

  /// At the end: the outermost object, not finished; null if that is no object.
  [[nodiscard]] PickleObject* outermost();
  /// After a cut: brings into the outermost object what is complete. Lists within lists keep what
  /// they have; dicts whose keys did not all come are dropped, but for the outermost. There a key
  /// without its value gets none. There is no outermost object if that is part of itself.
  void close();

 private:
  /// An object on the stack.
  struct Slot {
    PickleObject object;
    /// Once it is finished.
    PickleValue becomes;
    std::optional<std::size_t> memo;
    bool finished = false;
    /// Whether more than one stack or memo entry may refer to it.
    bool shared = false;
  };

  [[nodiscard]] std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  void need(std::size_t values) const;
  void get_open(std::size_t index);
  [[nodiscard]] std::size_t pop_mark();
  void drop_from(std::size_t first);

  [[nodiscard]] Slot& slot(PickleValue object) { return slots_[object.payload()]; }
  [[nodiscard]] Slot* open_slot(std::size_t at);
  [[nodiscard]] PickleObject& target(std::size_t at, PickleObject::Kind kind);
  /// Finishes the value if it is an object.
  [[nodiscard]] PickleValue finish(PickleValue value) {
    return value.is_object() ? finish_object(value, std::nullopt) : value;
  }
  [[nodiscard]] PickleValue finish_object(PickleValue object, std::optional<PickleText> key);
  void release(PickleValue object, PickleValue becomes);
  void append_from(std::size_t first);
  void set_items_from(std::size_t first);
  void close_mark();
  void close_outermost(std::size_t first);

  PickleBuilder& builder_;
  PickleValueStack stack_;
  /// Heights of the stack.
  std::vector<std::size_t> marks_;
  ChunkedVector<PickleValue> memo_;
  std::vector<Slot> slots_;
  std::vector<std::size_t> free_slots_;
};

}  // namespace fragcast
