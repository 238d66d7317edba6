#include "replay/report/output_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "replay/formats/input_error.hpp"
#include "tests/support/catch.hpp"

namespace fragcast {
namespace {

namespace fs = std::filesystem;

/// A folder of its own, gone with the test.
class Folder {
 public:
  Folder() : path_{fs::temp_directory_path() / ("fragcast-test-" + std::to_string(::getpid()))} {
    fs::remove_all(path_);
    fs::create_directory(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return path_ / name; }
  [[nodiscard]] auto count() const {
    return std::distance(fs::directory_iterator{path_}, fs::directory_iterator{});
  }

 private:
  fs::path path_;
};

std::string content_of(const std::string& file) {
  std::ostringstream content;
  content << std::ifstream{file}.rdbuf();
  return content.str();
}

void write(const std::string& file, const std::string& content) { std::ofstream{file} << content; }

TEST_CASE("a committed output replaces the file and leaves nothing else", "[output_file]") {
  const Folder folder;
  std::ostringstream standard;
  const std::string file = folder.file("out.json");
  write(file, "old");
  {
    OutputFile output{file, standard};
    output.stream() << "new";
    CHECK(content_of(file) == "old");
    output.commit();
    CHECK(content_of(file) == "new");
  }
  CHECK(content_of(file) == "new");
  CHECK(folder.count() == 1);
  CHECK(standard.str().empty());
}

TEST_CASE("an output that is not committed leaves everything as it was", "[output_file]") {
  const Folder folder;
  std::ostringstream standard;
  write(folder.file("old"), "old");
  {
    OutputFile existing{folder.file("old"), standard};
    existing.stream() << "half";
    OutputFile fresh{folder.file("new"), standard};
    fresh.stream() << "half";
  }
  CHECK(content_of(folder.file("old")) == "old");
  CHECK(folder.count() == 1);
}

TEST_CASE("a dash or no name means standard output", "[output_file]") {
  std::ostringstream standard;
  for (const char* name : {"-", ""}) {
    OutputFile output{name, standard};
    output.stream() << "text";
    output.commit();
  }
  CHECK(standard.str() == "texttext");
}

TEST_CASE("names that cannot be written are refused before anything is", "[output_file]") {
  const Folder folder;
  std::ostringstream standard;
  const auto open = [&](const std::string& name) { OutputFile{name, standard}; };
  CHECK_THROWS_AS(open(folder.file("")), InputError);
  CHECK_THROWS_AS(open(folder.file("absent/out.json")), InputError);
  write(folder.file("a"), "");
  CHECK_THROWS_AS(open(folder.file("a") + "/out.json"), InputError);
  try {
    open(folder.file("absent/out.json"));
  } catch (const InputError& error) {
    CHECK(error.position().file == folder.file("absent/out.json"));
    CHECK(std::string{error.what()}.find("No such file or directory") != std::string::npos);
  }
}

TEST_CASE("a file without write permission is not replaced", "[output_file]") {
  if (::geteuid() == 0) {
    WARN("skipped: root may write everywhere");
    return;
  }
  const Folder folder;
  std::ostringstream standard;
  write(folder.file("a"), "mine");
  fs::permissions(folder.file("a"), fs::perms::owner_read);
  CHECK_THROWS_AS((OutputFile{folder.file("a"), standard}), InputError);
}

TEST_CASE("a link stays a link and its file keeps its permissions", "[output_file]") {
  const Folder folder;
  std::ostringstream standard;
  write(folder.file("real"), "old");
  const auto permissions = fs::perms::owner_read | fs::perms::owner_write;
  fs::permissions(folder.file("real"), permissions);
  fs::create_symlink(folder.file("real"), folder.file("link"));
  OutputFile output{folder.file("link"), standard};
  output.stream() << "new";
  output.commit();
  CHECK(fs::is_symlink(folder.file("link")));
  CHECK(content_of(folder.file("real")) == "new");
  CHECK(fs::status(folder.file("real")).permissions() == permissions);
}

TEST_CASE("what is no ordinary file is written to, not replaced", "[output_file]") {
  std::ostringstream standard;
  OutputFile output{"/dev/null", standard};
  output.stream() << "gone";
  output.commit();
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("an output that does not fit is an error", "[output_file]") {
  if (!fs::exists("/dev/full")) {
    WARN("skipped: no /dev/full");
    return;
  }
  std::ostringstream standard;
  OutputFile output{"/dev/full", standard};
  output.stream() << "text";
  CHECK_THROWS_AS(output.commit(), InputError);
}

TEST_CASE("a standard output that is closed is an error", "[output_file]") {
  std::ostringstream standard;
  OutputFile output{"-", standard};
  standard.setstate(std::ios::badbit);
  CHECK_THROWS_AS(output.commit(), InputError);
}

}  // namespace
}  // namespace fragcast
