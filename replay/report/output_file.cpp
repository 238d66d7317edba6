#include "replay/report/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <ostream>
#include <system_error>
#include <utility>

#include "replay/formats/input_error.hpp"

namespace fragcast {
namespace {

namespace fs = std::filesystem;

std::string system_message(int error) { return std::generic_category().message(error); }

/// Makes a new, empty file; returns 0, or why not as an errno.
int create_new(const fs::path& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  ::close(file);
  return 0;
}

}  // namespace

OutputFile::OutputFile(std::string name, std::ostream& standard_output) : name_{std::move(name)} {
  if (name_.empty() || name_ == "-") {
    name_ = "standard output";
    stream_ = &standard_output;
    return;
  }
  stream_ = &file_;
  std::error_code absent;
  const fs::file_status status = fs::status(name_, absent);
  if (fs::is_directory(status)) refuse("is a directory: name a file to be written");
  if (fs::exists(status) && ::access(name_.c_str(), W_OK) != 0) {
    refuse(fmt::format("cannot be written: {}", system_message(errno)));
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    file_.open(name_, std::ios::binary);
    if (!file_) refuse("cannot be opened for writing");
    return;
  }
  target_ = fs::exists(status) ? fs::canonical(name_) : fs::path{name_};
  open_beside();
  if (fs::exists(status)) fs::permissions(temporary_, status.permissions());
}

OutputFile::~OutputFile() {
  if (temporary_.empty()) return;
  file_.close();
  std::error_code ignored;
  fs::remove(temporary_, ignored);
}

void OutputFile::open_beside() {
  for (int attempt = 0;; ++attempt) {
    fs::path candidate = target_;
    candidate.replace_filename(fmt::format(".fragcast-{}-{}.tmp", ::getpid(), attempt));
    const int error = create_new(candidate);
    if (error == EEXIST) continue;
    if (error != 0) {
      refuse(fmt::format("cannot be written: {}; name a file in a folder that exists and is yours",
                         system_message(error)));
    }
    temporary_ = std::move(candidate);
    break;
  }
  file_.open(temporary_, std::ios::binary);
  if (!file_) refuse("cannot be opened for writing");
}

void OutputFile::commit() {
  stream_->flush();
  if (file_.is_open()) file_.close();
  if (!*stream_) refuse("could not be written whole: is the disk full?");
  if (temporary_.empty()) return;
  std::error_code error;
  fs::rename(temporary_, target_, error);
  if (error) refuse(fmt::format("cannot be replaced: {}", error.message()));
  temporary_.clear();
}

void OutputFile::refuse(const std::string& sentence) const {
  throw InputError{{.file = name_, .line = {}, .byte = {}}, sentence};
}

}  // namespace fragcast
