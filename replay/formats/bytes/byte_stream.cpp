#include "replay/formats/bytes/byte_stream.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "replay/formats/input_error.hpp"

namespace fragcast {
namespace {

/// A file descriptor, closed in the end.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_{number} {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

std::string reason(int error) { return std::generic_category().message(error); }

class FileStream final : public ByteStream {
 public:
  explicit FileStream(std::string path)
      : path_{std::move(path)}, file_{::open(path_.c_str(), O_RDONLY | O_CLOEXEC)} {
    if (file_.number() < 0) fail(fmt::format("cannot be opened ({})", reason(errno)));
    struct stat status = {};
    if (::fstat(file_.number(), &status) != 0) {
      fail(fmt::format("cannot be examined ({})", reason(errno)));
    }
    if (S_ISDIR(status.st_mode)) fail("is a directory; name a file in it");
  }

  std::size_t read(std::span<char> room) override {
    while (true) {
      const ssize_t got = ::read(file_.number(), room.data(), room.size());
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) fail(fmt::format("cannot be read ({})", reason(errno)));
    }
  }

 private:
  [[noreturn]] void fail(const std::string& sentence) const {
    throw InputError{{.file = path_, .line = {}, .byte = {}}, sentence};
  }

  std::string path_;
  Descriptor file_;
};

class MemoryStream final : public ByteStream {
 public:
  explicit MemoryStream(std::string_view bytes) : rest_{bytes} {}

  std::size_t read(std::span<char> room) override {
    const std::size_t n = std::min(room.size(), rest_.size());
    std::copy_n(rest_.begin(), n, room.begin());
    rest_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view rest_;
};

}  // namespace

std::unique_ptr<ByteStream> open_file_stream(const std::string& path) {
  return std::make_unique<FileStream>(path);
}

std::unique_ptr<ByteStream> memory_stream(std::string_view bytes) {
  return std::make_unique<MemoryStream>(bytes);
}

}  // namespace fragcast
