#include <fmt/format.h>
#include <zstd.h>

#include <utility>

#include "replay/formats/bytes/wrappings.hpp"
#include "sim/core/check.hpp"

namespace fragcast {
namespace {

struct FreeDecoder {
  void operator()(ZSTD_DStream* decoder) const { ZSTD_freeDStream(decoder); }
};

class ZstdStream final : public ByteStream {
 public:
  explicit ZstdStream(ByteSource inner) : inner_{std::move(inner)}, decoder_{ZSTD_createDStream()} {
    FRAGCAST_CHECK(decoder_ != nullptr, "zstd starts unless memory is short");
  }

  std::size_t read(std::span<char> room) override {
    ZSTD_outBuffer output{.dst = room.data(), .size = room.size(), .pos = 0};
    while (output.pos == 0 && state_ != State::ended && state_ != State::cut) step(output);
    return output.pos;
  }

  [[nodiscard]] std::string_view cut() const override {
    if (state_ != State::cut) return {};
    return inner_.cut().empty() ? "its zstd frame" : inner_.cut();
  }

 private:
  enum class State : std::uint8_t { between_frames, inside, ended, cut };

  void step(ZSTD_outBuffer& output) {
    const bool more = inner_.fill(1);
    if (!more && state_ == State::between_frames) {
      state_ = State::ended;
      return;
    }
    const std::string_view window = inner_.window();
    ZSTD_inBuffer input{.src = window.data(), .size = window.size(), .pos = 0};
    const std::size_t hint = ZSTD_decompressStream(decoder_.get(), &output, &input);
    if (ZSTD_isError(hint) != 0U) fail(ZSTD_getErrorName(hint));
    inner_.consume(input.pos);
    state_ = hint == 0 ? State::between_frames : State::inside;
    // libzstd takes the end of its input for a pause; within a frame it is a cut, once what the
    // decoder still held has come out.
    if (!more && state_ == State::inside && output.pos == 0) state_ = State::cut;
  }

  [[noreturn]] void fail(std::string_view reason) const {
    throw InputError{inner_.at_byte(inner_.position()),
                     fmt::format("the zstd stream is damaged ({}); copy the file again", reason)};
  }

  ByteSource inner_;
  std::unique_ptr<ZSTD_DStream, FreeDecoder> decoder_;
  State state_ = State::inside;
};

}  // namespace

std::unique_ptr<ByteStream> unzstd(ByteSource inner) {
  return std::make_unique<ZstdStream>(std::move(inner));
}

}  // namespace fragcast
