#include <fmt/format.h>

#include <array>
#include <utility>

#include "replay/formats/bytes/wrappings.hpp"

namespace fragcast {
namespace {

constexpr std::int8_t not_base64 = -1;

constexpr std::array<std::int8_t, 256> make_values() {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<std::int8_t, 256> values{};
  for (std::int8_t& value : values) value = not_base64;
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  }
  return values;
}

constexpr std::array<std::int8_t, 256> values = make_values();

class EmbeddedStream final : public ByteStream {
 public:
  explicit EmbeddedStream(ByteSource inner) : inner_{std::move(inner)} {}

  std::size_t read(std::span<char> room) override {
    if (state_ == State::before) find_text();
    std::size_t filled = 0;
    while (filled == 0 && state_ == State::inside) filled = decode(room);
    return filled;
  }

  [[nodiscard]] std::string_view cut() const override {
    if (state_ != State::cut) return {};
    return inner_.cut().empty() ? "the page around it" : inner_.cut();
  }

 private:
  enum class State : std::uint8_t { before, inside, ended, cut };

  /// Moves to the first letter behind `"base64": "`.
  void find_text() {
    constexpr std::string_view key = "\"base64\"";
    constexpr std::size_t longest = key.size() + 8;
    while (inner_.fill(longest)) {
      const std::string_view seen = inner_.window();
      const std::size_t at = seen.find(key);
      if (at == std::string_view::npos) {
        inner_.consume(seen.size() - key.size() + 1);
        continue;
      }
      inner_.consume(at + key.size());
      if (opens_text()) {
        state_ = State::inside;
        return;
      }
    }
    throw InputError{inner_.at_byte(inner_.read_position()),
                     "the page embeds no snapshot (no \"base64\" text was found); give the "
                     ".pickle file it was made from, or a page made by torch's _memory_viz"};
  }

  /// Consumes a colon, a quote and the blanks about them; false if something else stands there.
  bool opens_text() {
    for (const char wanted : {':', '"'}) {
      while (inner_.fill(1) && inner_.window().front() == ' ') inner_.consume(1);
      if (!inner_.fill(1) || inner_.window().front() != wanted) return false;
      inner_.consume(1);
    }
    return true;
  }

  std::size_t decode(std::span<char> room) {
    if (!inner_.fill(1)) {
      state_ = State::cut;
      return 0;
    }
    std::size_t taken = 0;
    std::size_t filled = 0;
    for (const char letter : inner_.window()) {
      if (filled == room.size()) break;
      const std::int8_t value = values[static_cast<unsigned char>(letter)];
      if (value == not_base64) {
        end_text(letter, inner_.position() + taken);
        break;
      }
      ++taken;
      bits_ = (bits_ << 6) | static_cast<std::uint32_t>(value);
      bit_count_ += 6;
      if (bit_count_ >= 8) {
        bit_count_ -= 8;
        room[filled++] = static_cast<char>((bits_ >> bit_count_) & 0xff);
      }
    }
    inner_.consume(taken);
    return filled;
  }

  void end_text(char letter, std::uint64_t at) {
    if (letter != '"' && letter != '=') {
      throw InputError{inner_.at_byte(at),
                       "the snapshot embedded in the page is not base64 here; the page is "
                       "damaged: save it again"};
    }
    state_ = State::ended;
  }

  ByteSource inner_;
  State state_ = State::before;
  /// Decoded bits that are no whole byte yet.
  std::uint32_t bits_ = 0;
  unsigned bit_count_ = 0;
};

}  // namespace

std::unique_ptr<ByteStream> embedded_file(ByteSource inner) {
  return std::make_unique<EmbeddedStream>(std::move(inner));
}

}  // namespace fragcast
