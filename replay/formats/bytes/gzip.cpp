#include <fmt/format.h>
#include <zlib.h>

#include <limits>
#include <utility>

#include "replay/formats/bytes/wrappings.hpp"
#include "sim/core/check.hpp"

namespace fragcast {
namespace {

class GzipStream final : public ByteStream {
 public:
  explicit GzipStream(ByteSource inner) : inner_{std::move(inner)} {
    constexpr int gzip_header = 16;  // zlib's way of asking for gzip's frame instead of its own
    const int status = inflateInit2(&inflater_, MAX_WBITS + gzip_header);
    FRAGCAST_CHECK(status == Z_OK, "zlib starts unless memory is short");
  }
  ~GzipStream() override { inflateEnd(&inflater_); }

  std::size_t read(std::span<char> room) override {
    inflater_.next_out = reinterpret_cast<Bytef*>(room.data());
    inflater_.avail_out = clamp(room.size());
    const uInt wanted = inflater_.avail_out;
    while (inflater_.avail_out == wanted && state_ == State::inside) step();
    return wanted - inflater_.avail_out;
  }

  [[nodiscard]] std::string_view cut() const override {
    if (state_ != State::cut) return {};
    return inner_.cut().empty() ? "its gzip stream" : inner_.cut();
  }

 private:
  enum class State : std::uint8_t { inside, ended, cut };

  static uInt clamp(std::size_t n) {
    return n < std::numeric_limits<uInt>::max() ? static_cast<uInt>(n)
                                                : std::numeric_limits<uInt>::max();
  }

  void step() {
    // Without further input zlib may still hold output.
    const bool more = inner_.fill(1);
    const std::string_view input = inner_.window();
    // zlib's interface predates const; it does not write here.
    inflater_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    inflater_.avail_in = clamp(input.size());
    const int status = inflate(&inflater_, Z_NO_FLUSH);
    inner_.consume(input.size() - inflater_.avail_in);
    if (status == Z_STREAM_END) {
      next_member();
    } else if (status == Z_BUF_ERROR && !more) {
      state_ = State::cut;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      throw InputError{inner_.at_byte(inner_.position()),
                       fmt::format("the gzip stream is damaged ({}); copy the file again",
                                   inflater_.msg == nullptr ? "no reason given" : inflater_.msg)};
    }
  }

  // `cat a.gz b.gz` is one gzip file; anything else behind a member is padding.
  void next_member() {
    if (inner_.fill(2) && inner_.window().starts_with("\x1f\x8b")) {
      inflateReset(&inflater_);
    } else {
      state_ = State::ended;
    }
  }

  ByteSource inner_;
  z_stream inflater_ = {};
  State state_ = State::inside;
};

}  // namespace

std::unique_ptr<ByteStream> gunzip(ByteSource inner) {
  return std::make_unique<GzipStream>(std::move(inner));
}

}  // namespace fragcast
