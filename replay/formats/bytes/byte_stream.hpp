#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace fragcast {

/// Bytes that come one after another: a file, or what a decompressor makes of another stream.
class ByteStream {
 public:
  ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  virtual ~ByteStream() = default;

  /// Puts the next bytes into `room` and returns how many; 0 at the end, and only there. Throws
  /// InputError when the bytes cannot be had.
  virtual std::size_t read(std::span<char> room) = 0;

  /// At the end: what was cut off there, such as "its gzip stream"; empty if nothing visibly was.
  [[nodiscard]] virtual std::string_view cut() const { return {}; }
};

/// The bytes of a file. Throws InputError where there is none or it cannot be read.
[[nodiscard]] std::unique_ptr<ByteStream> open_file_stream(const std::string& path);

/// Bytes in memory, which must outlive the stream.
[[nodiscard]] std::unique_ptr<ByteStream> memory_stream(std::string_view bytes);

}  // namespace fragcast
