#include "replay/formats/pickle/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace fragcast {
namespace {

static_assert(std::endian::native == std::endian::little,
              "pickles are little-endian, and so is "
              "how they are read here");

template <class Number>
Number load(const char* bytes) {
  Number number;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

/// Reads opcodes from a source and carries them out on a stack.
class Machine {
 public:
  Machine(ByteSource& source, PickleTables& tables, PickleStack& stack)
      : source_{source}, tables_{tables}, stack_{stack} {}

  PickleEnd run();

 private:
  using Handler = void (*)(Machine& machine, const char* argument);
  /// What an opcode is and does; `arguments` are the bytes that always follow it.
  struct Instruction {
    std::uint8_t code = 0;
    std::uint8_t arguments = 0;
    std::string_view name;
    Handler handler = nullptr;
  };
  // NOLINTNEXTLINE(modernize-avoid-c-arrays): its length is that of the list below
  static const Instruction listing[];
  /// The listing by code, and of each only what the loop needs.
  struct Step {
    Handler handler = nullptr;
    std::size_t length = 1;
  };
  static const std::array<Step, 256> steps;

  template <void (Machine::*handler)(const char*)>
  static void carry_out(Machine& machine, const char* argument) {
    (machine.*handler)(argument);
  }

  void step();
  [[nodiscard]] bool refill(std::size_t n);
  [[nodiscard]] std::optional<std::string_view> take(std::uint64_t n);
  [[nodiscard]] std::string_view take_long(std::uint64_t n);
  [[noreturn]] void fail(std::string_view what) const;

  void proto(const char* argument);
  void frame(const char* /*length*/) {}
  void stop(const char* /*none*/) { end_ = PickleEnd::Kind::stop; }

  template <PickleKind kind, std::uint64_t payload>
  void constant(const char* /*none*/) {
    stack_.push({kind, payload});
  }
  template <class Number>
  void number(const char* argument) {
    stack_.push(tables_.make_integer(std::int64_t{load<Number>(argument)}));
  }
  template <class Length>
  void long_number(const char* argument) {
    if (const auto bytes = take(load<Length>(argument))) stack_.push(tables_.make_integer(*bytes));
  }
  void real(const char* argument);
  template <class Length>
  void text(const char* argument) {
    if (const auto bytes = take(load<Length>(argument))) stack_.push(tables_.make_text(*bytes));
  }

  template <PickleObject::Kind kind>
  void empty(const char* /*none*/) {
    stack_.push_object(kind, opcode_at());
  }
  template <std::size_t size>
  void tuple_of(const char* /*none*/) {
    stack_.make_tuple(size, opcode_at());
  }
  void tuple(const char* /*none*/) { stack_.make_tuple_to_mark(opcode_at()); }
  /// An opcode that works on the stack alone.
  template <void (PickleStack::*operation)()>
  void on_stack(const char* /*none*/) {
    (stack_.*operation)();
  }

  template <class Index>
  void put(const char* argument) {
    stack_.put(load<Index>(argument), opcode_at());
  }
  template <class Index>
  void get(const char* argument) {
    stack_.get(load<Index>(argument));
  }

  void refuse_code(const char* argument);
  void refuse_kind(const char* argument);
  void refuse_unknown(const char* argument);

  [[nodiscard]] std::uint64_t opcode_at() const {
    return source_.position() + static_cast<std::uint64_t>(opcode_ - start_);
  }

  ByteSource& source_;
  PickleTables& tables_;
  PickleStack& stack_;

  /// The source's window: its begin, the opcode being run, the next byte, its end.
  const char* start_ = nullptr;
  const char* opcode_ = nullptr;
  const char* cursor_ = nullptr;
  const char* limit_ = nullptr;
  /// A text that is longer than the window.
  std::string long_text_;
  int protocol_ = 0;
  std::optional<PickleEnd::Kind> end_;
};

// Names are those of Python's pickletools.
// NOLINTNEXTLINE(modernize-avoid-c-arrays)
constexpr Machine::Instruction Machine::listing[] = {
    {0x80, 1, "PROTO", carry_out<&Machine::proto>},
    {0x95, 8, "FRAME", carry_out<&Machine::frame>},
    {'.', 0, "STOP", carry_out<&Machine::stop>},

    {'N', 0, "NONE", carry_out<&Machine::constant<PickleKind::none, 0>>},
    {0x88, 0, "NEWTRUE", carry_out<&Machine::constant<PickleKind::boolean, 1>>},
    {0x89, 0, "NEWFALSE", carry_out<&Machine::constant<PickleKind::boolean, 0>>},
    {'K', 1, "BININT1", carry_out<&Machine::number<std::uint8_t>>},
    {'M', 2, "BININT2", carry_out<&Machine::number<std::uint16_t>>},
    {'J', 4, "BININT", carry_out<&Machine::number<std::int32_t>>},
    {0x8a, 1, "LONG1", carry_out<&Machine::long_number<std::uint8_t>>},
    {0x8b, 4, "LONG4", carry_out<&Machine::long_number<std::uint32_t>>},
    {'G', 8, "BINFLOAT", carry_out<&Machine::real>},
    {0x8c, 1, "SHORT_BINUNICODE", carry_out<&Machine::text<std::uint8_t>>},
    {'X', 4, "BINUNICODE", carry_out<&Machine::text<std::uint32_t>>},
    {0x8d, 8, "BINUNICODE8", carry_out<&Machine::text<std::uint64_t>>},
    {'U', 1, "SHORT_BINSTRING", carry_out<&Machine::text<std::uint8_t>>},
    {'T', 4, "BINSTRING", carry_out<&Machine::text<std::uint32_t>>},
    {'C', 1, "SHORT_BINBYTES", carry_out<&Machine::text<std::uint8_t>>},
    {'B', 4, "BINBYTES", carry_out<&Machine::text<std::uint32_t>>},
    {0x8e, 8, "BINBYTES8", carry_out<&Machine::text<std::uint64_t>>},

    {'}', 0, "EMPTY_DICT", carry_out<&Machine::empty<PickleObject::Kind::dict>>},
    {']', 0, "EMPTY_LIST", carry_out<&Machine::empty<PickleObject::Kind::list>>},
    {')', 0, "EMPTY_TUPLE", carry_out<&Machine::tuple_of<0>>},
    {0x85, 0, "TUPLE1", carry_out<&Machine::tuple_of<1>>},
    {0x86, 0, "TUPLE2", carry_out<&Machine::tuple_of<2>>},
    {0x87, 0, "TUPLE3", carry_out<&Machine::tuple_of<3>>},
    {'t', 0, "TUPLE", carry_out<&Machine::tuple>},
    {'a', 0, "APPEND", carry_out<&Machine::on_stack<&PickleStack::append>>},
    {'e', 0, "APPENDS", carry_out<&Machine::on_stack<&PickleStack::append_to_mark>>},
    {'s', 0, "SETITEM", carry_out<&Machine::on_stack<&PickleStack::set_item>>},
    {'u', 0, "SETITEMS", carry_out<&Machine::on_stack<&PickleStack::set_items_to_mark>>},

    {'(', 0, "MARK", carry_out<&Machine::on_stack<&PickleStack::push_mark>>},
    {'0', 0, "POP", carry_out<&Machine::on_stack<&PickleStack::pop>>},
    {'1', 0, "POP_MARK", carry_out<&Machine::on_stack<&PickleStack::pop_to_mark>>},
    {0x94, 0, "MEMOIZE", carry_out<&Machine::on_stack<&PickleStack::memoize>>},
    {'q', 1, "BINPUT", carry_out<&Machine::put<std::uint8_t>>},
    {'r', 4, "LONG_BINPUT", carry_out<&Machine::put<std::uint32_t>>},
    {'h', 1, "BINGET", carry_out<&Machine::get<std::uint8_t>>},
    {'j', 4, "LONG_BINGET", carry_out<&Machine::get<std::uint32_t>>},

    {'c', 0, "GLOBAL", carry_out<&Machine::refuse_code>},
    {0x93, 0, "STACK_GLOBAL", carry_out<&Machine::refuse_code>},
    {'i', 0, "INST", carry_out<&Machine::refuse_code>},
    {'o', 0, "OBJ", carry_out<&Machine::refuse_code>},
    {0x81, 0, "NEWOBJ", carry_out<&Machine::refuse_code>},
    {0x92, 0, "NEWOBJ_EX", carry_out<&Machine::refuse_code>},
    {'R', 0, "REDUCE", carry_out<&Machine::refuse_code>},
    {'b', 0, "BUILD", carry_out<&Machine::refuse_code>},
    {'P', 0, "PERSID", carry_out<&Machine::refuse_code>},
    {'Q', 0, "BINPERSID", carry_out<&Machine::refuse_code>},
    {0x82, 0, "EXT1", carry_out<&Machine::refuse_code>},
    {0x83, 0, "EXT2", carry_out<&Machine::refuse_code>},
    {0x84, 0, "EXT4", carry_out<&Machine::refuse_code>},

    {'2', 0, "DUP", carry_out<&Machine::refuse_kind>},
    {'I', 0, "INT", carry_out<&Machine::refuse_kind>},
    {'L', 0, "LONG", carry_out<&Machine::refuse_kind>},
    {'F', 0, "FLOAT", carry_out<&Machine::refuse_kind>},
    {'S', 0, "STRING", carry_out<&Machine::refuse_kind>},
    {'V', 0, "UNICODE", carry_out<&Machine::refuse_kind>},
    {'l', 0, "LIST", carry_out<&Machine::refuse_kind>},
    {'d', 0, "DICT", carry_out<&Machine::refuse_kind>},
    {'p', 0, "PUT", carry_out<&Machine::refuse_kind>},
    {'g', 0, "GET", carry_out<&Machine::refuse_kind>},
    {0x8f, 0, "EMPTY_SET", carry_out<&Machine::refuse_kind>},
    {0x90, 0, "ADDITEMS", carry_out<&Machine::refuse_kind>},
    {0x91, 0, "FROZENSET", carry_out<&Machine::refuse_kind>},
    {0x96, 0, "BYTEARRAY8", carry_out<&Machine::refuse_kind>},
    {0x97, 0, "NEXT_BUFFER", carry_out<&Machine::refuse_kind>},
    {0x98, 0, "READONLY_BUFFER", carry_out<&Machine::refuse_kind>},
};

constexpr std::array<Machine::Step, 256> Machine::steps = [] {
  std::array<Step, 256> by_code{};
  by_code.fill({.handler = carry_out<&Machine::refuse_unknown>, .length = 1});
  for (const Instruction& instruction : listing) {
    by_code[instruction.code] = {.handler = instruction.handler,
                                 .length = std::size_t{1} + instruction.arguments};
  }
  return by_code;
}();

PickleEnd Machine::run() {
  start_ = opcode_ = cursor_ = source_.window().data();
  limit_ = start_ + source_.window().size();
  try {
    while (!end_) step();
  } catch (const PickleFault& fault) {
    fail(fmt::format("{}; the file is damaged or was made by hand: record or copy it again",
                     fault.what()));
  }
  source_.consume(static_cast<std::size_t>(cursor_ - start_));
  return {.kind = *end_, .protocol = protocol_};
}

void Machine::step() {
  if (cursor_ != limit_ || refill(1)) {
    const Step& next = steps[static_cast<unsigned char>(*cursor_)];
    if (static_cast<std::size_t>(limit_ - cursor_) >= next.length || refill(next.length)) {
      opcode_ = cursor_;
      cursor_ += next.length;
      next.handler(*this, opcode_ + 1);
      return;
    }
  }
  end_ = PickleEnd::Kind::cut;
}

bool Machine::refill(std::size_t n) {
  source_.consume(static_cast<std::size_t>(cursor_ - start_));
  const bool filled = source_.fill(n);
  start_ = opcode_ = cursor_ = source_.window().data();
  limit_ = start_ + source_.window().size();
  return filled;
}

/// The next `n` bytes, valid until the next call; none if the input ends before, which ends the
/// run.
std::optional<std::string_view> Machine::take(std::uint64_t n) {
  const auto at_hand = static_cast<std::size_t>(limit_ - cursor_);
  if (n <= at_hand || (n <= ByteSource::window_size && refill(static_cast<std::size_t>(n)))) {
    const std::string_view bytes{cursor_, static_cast<std::size_t>(n)};
    cursor_ += n;
    return bytes;
  }
  if (n > ByteSource::window_size) {
    // The length may be a lie: what is set aside grows with what is read.
    const std::string_view bytes = take_long(n);
    if (bytes.size() == n) return bytes;
  }
  end_ = PickleEnd::Kind::cut;
  return std::nullopt;
}

std::string_view Machine::take_long(std::uint64_t n) {
  long_text_.clear();
  while (long_text_.size() < n && (cursor_ != limit_ || refill(1))) {
    const std::uint64_t wanted = n - long_text_.size();
    const auto at_hand = static_cast<std::uint64_t>(limit_ - cursor_);
    const auto part = static_cast<std::size_t>(std::min(wanted, at_hand));
    long_text_.append(cursor_, part);
    cursor_ += part;
  }
  return long_text_;
}

void Machine::fail(std::string_view what) const {
  const auto code = static_cast<unsigned char>(*opcode_);
  const auto* now = std::find_if(std::begin(listing), std::end(listing), [&](const auto& known) {
    return known.code == code;
  });
  throw InputError{source_.at_byte(opcode_at()),
                   fmt::format("the pickle's opcode {} {}", now->name, what)};
}

void Machine::proto(const char* argument) {
  constexpr int oldest = 2;
  constexpr int newest = 5;
  protocol_ = load<std::uint8_t>(argument);
  if (protocol_ < oldest || protocol_ > newest) {
    fail(
        fmt::format("asks for protocol {}; {} to {} are read: save it with "
                    "pickle.dump(snapshot, file, protocol=4)",
                    protocol_,
                    oldest,
                    newest));
  }
}

void Machine::real(const char* argument) {
  // The one big-endian number of the format.
  std::array<char, sizeof(double)> bytes{};
  std::reverse_copy(argument, argument + sizeof(double), bytes.begin());
  stack_.push(tables_.make_real(load<double>(bytes.data())));
}

void Machine::refuse_code(const char* /*argument*/) {
  fail(
      "would run code; a memory snapshot is plain data: save it with "
      "pickle.dump(torch.cuda.memory._snapshot(), file)");
}

void Machine::refuse_kind(const char* /*argument*/) {
  fail(
      "makes what no memory snapshot holds; save it with "
      "pickle.dump(torch.cuda.memory._snapshot(), file, protocol=4)");
}

void Machine::refuse_unknown(const char* /*argument*/) {
  throw InputError{source_.at_byte(opcode_at()),
                   fmt::format("no pickle has the opcode {:#04x}; the file is damaged: record or "
                               "copy it again",
                               static_cast<unsigned char>(*opcode_))};
}

}  // namespace

bool begins_pickle(ByteSource& source) {
  if (!source.fill(2)) return false;
  const std::string_view window = source.window();
  return window[0] == '\x80' && window[1] >= 2 && window[1] <= 5;
}

PickleEnd run_pickle(ByteSource& source, PickleTables& tables, PickleStack& stack) {
  return Machine{source, tables, stack}.run();
}

}  // namespace fragcast
