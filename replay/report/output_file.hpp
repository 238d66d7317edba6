#pragma once

#include <filesystem>
#include <fstream>
#include <iosfwd>
#include <string>

namespace fragcast {

/// An output that is there whole or not at all. It is opened before the work begins, so that a name
/// that cannot be written costs nobody a long run; what is written goes to a file beside the named
/// one, which takes its place on `commit`. Without that the named file stays as it was.
///
/// Standard output, and what is no ordinary file (a pipe, /dev/null), is written to directly.
class OutputFile {
 public:
  /// `name` is a file; empty or `-` means `standard_output`, which must outlive this. Throws
  /// InputError if it cannot be written.
  OutputFile(std::string name, std::ostream& standard_output);
  /// Drops what was not committed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Where to write; valid until `commit`.
  [[nodiscard]] std::ostream& stream() { return *stream_; }

  /// Makes what was written final. Throws InputError if not all of it could be written.
  void commit();

 private:
  void open_beside();
  [[noreturn]] void refuse(const std::string& sentence) const;

  /// As the user named it.
  std::string name_;
  /// What `commit` replaces, links followed.
  std::filesystem::path target_;
  /// Empty if there is none (any more).
  std::filesystem::path temporary_;
  std::ofstream file_;
  std::ostream* stream_ = nullptr;
};

}  // namespace fragcast
