#include "replay/formats/byte_source.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/wrapped.hpp"

namespace fragcast {
namespace {

using namespace std::string_literals;

std::string read_all(ByteSource& source) {
  std::string bytes;
  while (source.fill(1)) {
    bytes += source.window();
    source.consume(source.window().size());
  }
  return bytes;
}

std::string unwrapped(const std::string& bytes) {
  ByteSource source = open_source(bytes, "input");
  return read_all(source);
}

std::string refusal(const std::string& bytes) {
  try {
    return "read: " + unwrapped(bytes);
  } catch (const InputError& error) {
    return error.what();
  }
}

std::vector<std::string> lines(const std::string& text) {
  ByteSource source = open_source(text, "input");
  std::vector<std::string> result;
  while (const auto line = source.next_line()) result.emplace_back(*line);
  return result;
}

/// Bytes that compress, but not to nothing.
std::string some_bytes(std::size_t size) {
  std::string bytes;
  unsigned state = 1;
  while (bytes.size() < size) {
    state = state * 1664525 + 1013904223;
    bytes += fmt::format("{:x} ", state >> 20);
  }
  bytes.resize(size);
  return bytes;
}

TEST_CASE("a window moves over an input larger than itself", "[bytes]") {
  const std::string bytes = some_bytes(3 * ByteSource::window_size + 5);
  ByteSource source = open_source(bytes, "input");
  REQUIRE(source.fill(10));
  source.consume(10);
  REQUIRE(source.fill(ByteSource::window_size));
  CHECK(source.position() == 10);
  CHECK(source.window() == std::string_view{bytes}.substr(10, ByteSource::window_size));
  CHECK(read_all(source) == bytes.substr(10));
  CHECK(source.position() == bytes.size());
  CHECK_FALSE(source.fill(1));
}

TEST_CASE("a text is read line by line", "[bytes]") {
  CHECK(lines("a\nb\r\n\nlast") == std::vector<std::string>{"a", "b", "", "last"});
  CHECK(lines("a\n") == std::vector<std::string>{"a"});
  CHECK(lines(gzipped("a\nb\n")) == std::vector<std::string>{"a", "b"});
}

TEST_CASE("lines are counted from 1", "[bytes]") {
  ByteSource source = open_source("a\nb\n", "script");
  (void)source.next_line();
  CHECK(source.line() == 1);
  (void)source.next_line();
  CHECK(source.line() == 2);
  CHECK(InputError(source.at_line(), "x").what() == "script:2: x"s);
}

TEST_CASE("lines may cross windows but not be longer than one", "[bytes]") {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += fmt::format("line {}\n", i);
  const std::vector<std::string> read = lines(text);
  REQUIRE(read.size() == 100'000);
  CHECK(read.back() == "line 99999");
  CHECK_THROWS_AS(lines(std::string(ByteSource::window_size + 1, 'x')), InputError);
}

TEST_CASE("gzip, zstd and pages are taken off, in any nesting", "[bytes]") {
  const std::string bytes = some_bytes(1'000'000);
  CHECK(unwrapped(gzipped(bytes)) == bytes);
  CHECK(unwrapped(zstd_compressed(bytes)) == bytes);
  CHECK(unwrapped(in_page(bytes)).starts_with(bytes));
  CHECK(unwrapped(gzipped(in_page(zstd_compressed(bytes)))) == bytes);
}

TEST_CASE("a source says what it was wrapped in", "[bytes]") {
  CHECK(open_source(std::string_view{"x"}, "").wrapping().empty());
  const std::string bytes = gzipped(in_page(gzipped("x")));
  CHECK(open_source(bytes, "").wrapping() == "gzip in html in gzip");
}

TEST_CASE("files of several gzip members or zstd frames are one input", "[bytes]") {
  CHECK(unwrapped(gzipped("one ") + gzipped("two")) == "one two");
  CHECK(unwrapped(zstd_compressed("one ") + zstd_compressed("two")) == "one two");
  CHECK(unwrapped(gzipped("one") + std::string(512, '\0')) == "one");
}

TEST_CASE("a compressed input that is cut anywhere says so at its end", "[bytes]") {
  const std::string bytes = some_bytes(2000);
  for (const std::string& whole : {gzipped(bytes), zstd_compressed(bytes)}) {
    for (std::size_t size = 4; size < whole.size(); ++size) {
      const std::string cut = whole.substr(0, size);
      ByteSource source = open_source(cut, "");
      const std::string read = read_all(source);
      REQUIRE(bytes.starts_with(read));
      REQUIRE_FALSE(source.cut().empty());
    }
    ByteSource source = open_source(whole, "");
    CHECK(read_all(source) == bytes);
    CHECK(source.cut().empty());
  }
}

TEST_CASE("a page that is cut within its snapshot says so at its end", "[bytes]") {
  const std::string page = in_page(some_bytes(2000));
  const std::string cut = page.substr(0, page.find("}]") - 100);
  ByteSource source = open_source(cut, "");
  CHECK(some_bytes(2000).starts_with(read_all(source)));
  CHECK(source.cut() == "the page around it");
}

TEST_CASE("lines of a cut script end in an error", "[bytes]") {
  const std::string whole = gzipped(some_bytes(1000));
  CHECK_THROWS_AS(lines(whole.substr(0, whole.size() - 9)), InputError);
}

TEST_CASE("damaged streams are refused with the place", "[bytes]") {
  std::string gzip = gzipped(some_bytes(1000));
  gzip[gzip.size() - 6] = static_cast<char>(gzip[gzip.size() - 6] ^ 1);
  CHECK_THAT(refusal(gzip), Catch::Contains("the gzip stream is damaged (incorrect data check)"));
  std::string zstd = zstd_compressed(some_bytes(1000));
  zstd[4] = static_cast<char>(zstd[4] | 8);  // a reserved bit of the frame's header
  CHECK_THAT(refusal(zstd), Catch::Contains("the zstd stream is damaged"));
  std::string page = in_page(some_bytes(1000));
  page[page.find("base64") + 200] = '!';
  CHECK_THAT(refusal(page), Catch::Contains("is not base64 here"));
}

TEST_CASE("a page without a snapshot is refused", "[bytes]") {
  CHECK_THAT(refusal("<html><body>\"base64\"</body></html>"),
             Catch::Contains("embeds no snapshot"));
}

TEST_CASE("an input wrapped too often is refused", "[bytes]") {
  std::string bytes = "x";
  for (int i = 0; i < 4; ++i) bytes = gzipped(bytes);
  CHECK(unwrapped(bytes) == "x");
  CHECK_THAT(refusal(gzipped(bytes)), Catch::Contains("packed more than four times"));
}

TEST_CASE("an empty input is refused", "[bytes]") {
  CHECK_THAT(refusal(""), Catch::Contains("input: is empty"));
}

TEST_CASE("what cannot be read is refused by name", "[bytes]") {
  const std::string folder = std::filesystem::temp_directory_path().string();
  CHECK_THROWS_WITH(open_source(folder), Catch::Contains(folder + ": is a directory"));
  const std::string missing = folder + "/fragcast-no-such-file";
  CHECK_THROWS_WITH(open_source(missing),
                    Catch::Contains("cannot be opened (No such file or directory)"));
}

TEST_CASE("a file is read as bytes in memory are", "[bytes]") {
  const auto path = std::filesystem::temp_directory_path() / "fragcast_byte_source_test";
  const std::string bytes = some_bytes(700'000);
  std::ofstream{path, std::ios::binary} << gzipped(bytes);
  ByteSource source = open_source(path.string());
  CHECK(read_all(source) == bytes);
  CHECK(source.name() == path.string());
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace fragcast
