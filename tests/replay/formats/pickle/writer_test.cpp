#include "replay/formats/pickle/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/pickle_text.hpp"

namespace fragcast {
namespace {

using namespace std::string_literals;

/// What `write` writes, without the first frame's header.
template <class Write>
std::string written(Write write) {
  std::ostringstream out;
  PickleWriter writer{out};
  write(writer);
  writer.finish();
  CHECK(out.str().substr(0, 3) == "\x80\x04\x95"s);
  return out.str().substr(11);
}

TEST_CASE("written integers take as few bytes as Python's", "[pickle]") {
  const auto integer = [](std::int64_t value) {
    return written([&](PickleWriter& writer) { writer.integer(value); });
  };
  CHECK(integer(0) == "K\0."s);
  CHECK(integer(255) == "K\xff.");
  CHECK(integer(256) == "M\0\1."s);
  CHECK(integer(65536) == "J\0\0\1\0."s);
  CHECK(integer(-1) == "J\xff\xff\xff\xff.");
  CHECK(integer(std::int64_t{1} << 31) == "\x8a\5\0\0\0\x80\0."s);
  CHECK(integer(-(std::int64_t{1} << 31) - 1) == "\x8a\5\xff\xff\xff\x7f\xff."s);
  CHECK(integer(std::int64_t{1} << 40) == "\x8a\6\0\0\0\0\0\1."s);
  CHECK(written([](PickleWriter& writer) { writer.natural(~std::uint64_t{0}); }) ==
        "\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\0."s);
}

TEST_CASE("a text is written once", "[pickle]") {
  CHECK(written([](PickleWriter& writer) {
          writer.begin_list();
          writer.text("ab");
          writer.text("ab");
          writer.end_list();
        }) == "]\x94(\x8c\2ab\x94h\1e."s);
}

TEST_CASE("what is written is what is read", "[pickle]") {
  std::ostringstream out;
  PickleWriter writer{out};
  writer.begin_dict();
  writer.key("numbers");
  writer.begin_list();
  for (const std::int64_t number : {0L, -7L, 300L, 70'000L, -(1L << 40), (1L << 62)}) {
    writer.integer(number);
  }
  writer.real(0.5);
  writer.end_list();
  writer.key("others");
  writer.begin_list();
  writer.none();
  writer.boolean(true);
  writer.pair(0, -1);
  writer.text("xxx");
  writer.end_list();
  writer.key("empty");
  const auto empty = writer.begin_dict();
  writer.end_dict();
  writer.key("again");
  writer.again(empty);
  writer.end_dict();
  writer.finish();
  CHECK(load_pickle(out.str()).text ==
        "{'numbers': [0, -7, 300, 70000, -1099511627776, 4611686018427387904, 0.5], "
        "'others': [None, True, (0, -1), 'xxx'], 'empty': {}, 'again': {}}");
}

TEST_CASE("long dicts and long texts are written in parts", "[pickle]") {
  std::ostringstream out;
  PickleWriter writer{out};
  writer.begin_dict();
  for (int i = 0; i < 1001; ++i) {
    writer.key(fmt::format("{}", i));
    writer.text(fmt::format("{:0>300}", i));
  }
  writer.end_dict();
  writer.finish();
  const std::string bytes = out.str();
  const LoadedPickle loaded = load_pickle(bytes);
  CHECK(loaded.end.kind == PickleEnd::Kind::stop);
  CHECK(loaded.used == bytes.size());
  CHECK(std::count(bytes.begin(), bytes.end(), '\x95') == 2);  // frames
  CHECK(std::count(bytes.begin(), bytes.end(), '(') == 2);     // batches
}

}  // namespace
}  // namespace fragcast
