#include "replay/formats/byte_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "replay/formats/bytes/wrappings.hpp"
#include "sim/core/check.hpp"

namespace fragcast {

ByteSource::ByteSource(std::unique_ptr<ByteStream> stream, std::string name)
    : stream_{std::move(stream)},
      name_{std::move(name)},
      buffer_{std::make_unique_for_overwrite<char[]>(window_size)} {}

bool ByteSource::fill(std::size_t n) {
  FRAGCAST_CHECK(n <= window_size, "a window cannot be larger than its buffer");
  if (end_ - begin_ >= n) return true;
  std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
  base_ += begin_;
  end_ -= begin_;
  begin_ = 0;
  while (end_ < n && !ended_) {
    const std::size_t got = stream_->read({buffer_.get() + end_, window_size - end_});
    end_ += got;
    ended_ = got == 0;
  }
  return end_ >= n;
}

void ByteSource::consume(std::size_t n) {
  FRAGCAST_CHECK(n <= end_ - begin_, "bytes are read before they are consumed");
  begin_ += n;
}

std::optional<std::string_view> ByteSource::next_line() {
  ++line_;
  std::size_t searched = 0;
  while (true) {
    const std::string_view seen = window();
    if (const std::size_t end = seen.find('\n', searched); end != std::string_view::npos) {
      consume(end + 1);
      std::string_view line = seen.substr(0, end);
      if (line.ends_with('\r')) line.remove_suffix(1);
      return line;
    }
    searched = seen.size();
    if (searched == window_size) {
      throw InputError{at_line(),
                       fmt::format("the line is longer than {} bytes; this is no text that "
                                   "fragcast reads",
                                   window_size)};
    }
    if (!fill(searched + 1)) break;
  }
  if (!cut().empty()) {
    throw InputError{
        at_line(),
        fmt::format("the input ends here because {} is cut off; copy the file again", cut())};
  }
  const std::string_view rest = window();
  if (rest.empty()) return std::nullopt;
  consume(rest.size());
  return rest;
}

InputPosition ByteSource::at_byte(std::uint64_t byte) const {
  return {.file = name_, .line = {}, .byte = byte};
}

InputPosition ByteSource::at_line() const { return {.file = name_, .line = line_, .byte = {}}; }

ByteSource open_source(const std::string& path) {
  return unwrap(ByteSource{open_file_stream(path), path});
}

ByteSource open_source(std::string_view bytes, std::string name) {
  return unwrap(ByteSource{memory_stream(bytes), std::move(name)});
}

}  // namespace fragcast
