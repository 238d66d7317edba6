#include "tests/support/parse_layout.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <string>

namespace fragcast {
namespace {

/// Reads a drawing from left to right.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_{text} {}

  [[nodiscard]] bool done() {
    skip_blanks();
    return rest_.empty();
  }
  [[nodiscard]] bool take(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void expect(std::string_view word) {
    if (!take(word)) fail();
  }
  [[nodiscard]] bool at_digit() const {
    return !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9';
  }
  template <class Integer>
  [[nodiscard]] Integer number(int base = 10) {
    skip_blanks();
    Integer value{};
    const auto [end, error] =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, base);
    if (error != std::errc{}) fail();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  [[nodiscard]] Address address() {
    expect("0x");
    return Address{number<std::uint64_t>(16)};
  }
  [[nodiscard]] Bytes size() {
    const auto count = number<std::int64_t>();
    if (take("K")) return count * 1_KiB;
    if (take("M")) return count * 1_MiB;
    if (take("G")) return count * 1_GiB;
    return Bytes{count};
  }
  [[nodiscard]] bool at(std::string_view word) {
    skip_blanks();
    return rest_.starts_with(word);
  }
  [[noreturn]] void fail() const {
    throw std::invalid_argument{"cannot read as a heap: '" + std::string{rest_} + "'"};
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }
  std::string_view rest_;
};

BlockState read_state(Reader& reader) {
  if (reader.take("A")) return BlockState::allocated;
  if (reader.take("P")) return BlockState::pending;
  if (reader.take("H")) return BlockState::held_back;
  reader.expect(".");
  return BlockState::free;
}

class LayoutReader {
 public:
  void read_segment(std::string_view line) {
    Reader reader{line};
    if (reader.done()) return;
    SegmentPicture segment;
    std::optional<Address> address;
    if (!reader.at("[")) {
      read_heading(reader, segment, address);
      reader.expect(":");
    }
    segment.address = address.value_or(next_address_);
    while (!reader.done()) segment.blocks.push_back(read_block(reader, segment));
    if (segment.range && segment.range->size == Bytes{0}) segment.range = segment.extent();
    next_address_ = align_up(segment.extent().end(), 2_MiB);
    layout_.segments.push_back(std::move(segment));
  }
  [[nodiscard]] Layout take() { return std::move(layout_); }

 private:
  static void read_heading(Reader& reader,
                           SegmentPicture& segment,
                           std::optional<Address>& address) {
    if (reader.at("0x")) address = reader.address();
    if (reader.take("small")) segment.kind = PoolKind::small;
    if (reader.take("large")) segment.kind = PoolKind::large;
    if (reader.take("stream")) segment.stream = StreamId{reader.number<std::uint16_t>()};
    if (reader.take("pool")) segment.pool = PoolId{reader.number<std::uint32_t>()};
    if (reader.take("pages")) {
      segment.page_size = reader.size();
      segment.range = Extent{};
      if (reader.take("of")) {
        segment.range->begin = reader.address();
        reader.expect("+");
        segment.range->size = reader.size();
      }
    }
    if (reader.take("kept")) segment.flush = FlushRule::passes_over;
  }

  BlockPicture read_block(Reader& reader, SegmentPicture& segment) {
    reader.expect("[");
    BlockPicture block;
    block.state = read_state(reader);
    if (block.state == BlockState::allocated || block.state == BlockState::pending) {
      const AllocationId id{reader.at_digit() ? reader.number<std::uint32_t>() : next_id_};
      block.allocation = id;
      next_id_ = std::max(next_id_, id.value() + 1);
    }
    block.address = segment.extent().end();
    block.size = reader.size();
    block.requested = block.state == BlockState::free ? Bytes{0} : block.size;
    if (reader.take("/")) block.requested = reader.size();
    reader.expect("]");
    segment.size += block.size;
    return block;
  }

  Layout layout_;
  Address next_address_{std::uint64_t{1} << 44};
  std::uint32_t next_id_ = 0;
};

}  // namespace

Layout parse_layout(std::string_view text) {
  LayoutReader reader;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.read_segment(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.take();
}

}  // namespace fragcast
