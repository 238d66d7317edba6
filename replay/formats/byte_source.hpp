#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "replay/formats/bytes/byte_stream.hpp"
#include "replay/formats/input_error.hpp"

namespace fragcast {

/// An input seen through a window that moves forward: however large the input, only the window is
/// in memory. Knows where it is, for messages.
///
///     consumed       window()          not read yet
///     ───────────┊ a b c d e f g h ┊ ─────────────────
///            position()      fill(n) reads on until the window holds n bytes
class ByteSource {
 public:
  /// The most that `fill` can be asked for, and the longest line.
  static constexpr std::size_t window_size = std::size_t{256} << 10;

  /// `name` is what messages call the input; empty for "input".
  explicit ByteSource(std::unique_ptr<ByteStream> stream, std::string name);

  /// The bytes that were read and not consumed. Valid until the next `fill` or `next_line`.
  [[nodiscard]] std::string_view window() const { return {buffer_.get() + begin_, end_ - begin_}; }
  /// Reads on until the window holds at least `n` bytes; false if the input ends before.
  bool fill(std::size_t n);
  /// Moves the window's begin forward by `n` bytes, at most its length.
  void consume(std::size_t n);

  /// Of the window's first byte, from 0, in the decompressed input.
  [[nodiscard]] std::uint64_t position() const { return base_ + begin_; }
  /// Of the first byte not read yet.
  [[nodiscard]] std::uint64_t read_position() const { return base_ + end_; }

  /// The next line of a text, without its end ("\n" or "\r\n"); none at the end. Valid until the
  /// next call. Throws InputError when the text was cut, or a line does not fit the window.
  [[nodiscard]] std::optional<std::string_view> next_line();
  /// The number of the line that `next_line` returned last, from 1.
  [[nodiscard]] std::uint64_t line() const { return line_; }

  /// After the end: what was visibly cut off, such as "its gzip stream"; else empty.
  [[nodiscard]] std::string_view cut() const { return stream_->cut(); }

  [[nodiscard]] const std::string& name() const { return name_; }
  /// What was taken off the input: "gzip", "zstd", "html", joined by " in "; empty if nothing was.
  [[nodiscard]] const std::string& wrapping() const { return wrapping_; }
  void set_wrapping(std::string wrapping) { wrapping_ = std::move(wrapping); }

  /// For an InputError about a byte, or about the current line.
  [[nodiscard]] InputPosition at_byte(std::uint64_t byte) const;
  [[nodiscard]] InputPosition at_line() const;

 private:
  std::unique_ptr<ByteStream> stream_;
  std::string name_;
  std::string wrapping_;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  /// Position of the buffer's first byte.
  std::uint64_t base_ = 0;
  std::uint64_t line_ = 0;
  bool ended_ = false;
};

/// Opens a file and takes off what its first bytes show it to be wrapped in: gzip, zstd, a
/// memory_viz page, and nestings of these. Throws InputError if it cannot be read or is empty.
[[nodiscard]] ByteSource open_source(const std::string& path);
/// The same for bytes in memory, which must outlive the source.
[[nodiscard]] ByteSource open_source(std::string_view bytes, std::string name);

}  // namespace fragcast
