#include "replay/formats/pickle/writer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <ostream>

#include "sim/core/check.hpp"

namespace fragcast {
namespace {

// Python's pickler uses the same two.
constexpr std::size_t batch = 1000;
constexpr std::size_t frame_size = std::size_t{64} << 10;

constexpr char appends = 'e';
constexpr char set_items = 'u';

}  // namespace

PickleWriter::PickleWriter(std::ostream& out) : out_{out} { out_.write("\x80\x04", 2); }

template <class Number>
void PickleWriter::put(Number number) {
  static_assert(std::endian::native == std::endian::little);
  std::array<char, sizeof number> bytes{};
  std::memcpy(bytes.data(), &number, sizeof number);
  frame_.append(bytes.data(), bytes.size());
}

void PickleWriter::begin_value() {
  if (!open_.empty() && open_.back().end_of_batch == appends) begin_item(open_.back());
}

void PickleWriter::begin_item(Container& container) {
  if (container.items % batch == 0) {
    if (container.items > 0) frame_.push_back(container.end_of_batch);
    frame_.push_back('(');
    if (frame_.size() >= frame_size) flush();
  }
  ++container.items;
}

void PickleWriter::none() {
  begin_value();
  frame_.push_back('N');
}

void PickleWriter::boolean(bool value) {
  begin_value();
  put_code(value ? 0x88 : 0x89);
}

void PickleWriter::integer(std::int64_t value) {
  begin_value();
  if (value >= 0 && value <= std::numeric_limits<std::uint8_t>::max()) {
    frame_.push_back('K');
    put(static_cast<std::uint8_t>(value));
  } else if (value >= 0 && value <= std::numeric_limits<std::uint16_t>::max()) {
    frame_.push_back('M');
    put(static_cast<std::uint16_t>(value));
  } else if (value >= std::numeric_limits<std::int32_t>::min() &&
             value <= std::numeric_limits<std::int32_t>::max()) {
    frame_.push_back('J');
    put(static_cast<std::int32_t>(value));
  } else {
    // As many bytes as the number and its sign need.
    const auto bits = static_cast<std::uint64_t>(value < 0 ? ~value : value);
    const auto bytes = static_cast<std::size_t>(std::bit_width(bits)) / 8 + 1;
    put_code(0x8a);
    put(static_cast<std::uint8_t>(bytes));
    put(value);
    frame_.resize(frame_.size() - (sizeof value - bytes));
  }
}

void PickleWriter::natural(std::uint64_t value) {
  if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    integer(static_cast<std::int64_t>(value));
    return;
  }
  begin_value();
  put_code(0x8a);
  put(static_cast<std::uint8_t>(sizeof value + 1));
  put(value);
  frame_.push_back('\0');
}

void PickleWriter::real(double value) {
  begin_value();
  frame_.push_back('G');
  put(value);
  std::reverse(frame_.end() - sizeof value, frame_.end());  // the format's one big-endian number
}

void PickleWriter::text(std::string_view value) {
  const PickleText known = texts_.intern(value);
  if (known.index() < text_references_.size()) {
    again(text_references_[known.index()]);
    return;
  }
  begin_value();
  if (value.size() <= std::numeric_limits<std::uint8_t>::max()) {
    put_code(0x8c);
    put(static_cast<std::uint8_t>(value.size()));
  } else {
    FRAGCAST_CHECK(value.size() <= std::numeric_limits<std::uint32_t>::max(), "no text is so long");
    frame_.push_back('X');
    put(static_cast<std::uint32_t>(value.size()));
  }
  frame_.append(value);
  text_references_.push_back(memoize());
}

void PickleWriter::pair(std::int64_t first, std::int64_t second) {
  begin_value();
  // Not items of what is open.
  open_.push_back({});
  integer(first);
  integer(second);
  open_.pop_back();
  put_code(0x86);
  memoize();
}

PickleWriter::Reference PickleWriter::begin_list() {
  begin_value();
  open_.push_back({.end_of_batch = appends});
  frame_.push_back(']');
  return memoize();
}

PickleWriter::Reference PickleWriter::begin_dict() {
  begin_value();
  open_.push_back({.end_of_batch = set_items});
  frame_.push_back('}');
  return memoize();
}

void PickleWriter::end_list() { end_container(); }
void PickleWriter::end_dict() { end_container(); }

void PickleWriter::end_container() {
  FRAGCAST_CHECK(!open_.empty(), "only what was begun can end");
  if (open_.back().items > 0) frame_.push_back(open_.back().end_of_batch);
  open_.pop_back();
}

void PickleWriter::key(std::string_view name) {
  FRAGCAST_CHECK(!open_.empty() && open_.back().end_of_batch == set_items, "only dicts have keys");
  begin_item(open_.back());
  text(name);
}

PickleWriter::Reference PickleWriter::memoize() {
  put_code(0x94);
  return Reference{memo_size_++};
}

void PickleWriter::again(Reference object) {
  begin_value();
  if (object.value() <= std::numeric_limits<std::uint8_t>::max()) {
    frame_.push_back('h');
    put(static_cast<std::uint8_t>(object.value()));
  } else {
    frame_.push_back('j');
    put(object.value());
  }
}

void PickleWriter::finish() {
  FRAGCAST_CHECK(open_.empty(), "a pickle ends when all of its objects have");
  frame_.push_back('.');
  flush();
}

void PickleWriter::flush() {
  std::array<char, 1 + sizeof(std::uint64_t)> header{'\x95'};
  const std::uint64_t size = frame_.size();
  std::memcpy(header.data() + 1, &size, sizeof size);
  out_.write(header.data(), header.size());
  out_.write(frame_.data(), static_cast<std::streamsize>(frame_.size()));
  frame_.clear();
}

}  // namespace fragcast
