#include "replay/formats/utf8.hpp"

#include "tests/support/catch.hpp"

namespace fragcast {
namespace {

TEST_CASE("characters of every length are told", "[utf8]") {
  CHECK(first_character("ab").code == 'a');
  CHECK(first_character("ab").length == 1);
  CHECK(first_character("\u00e9b").code == 0xE9);
  CHECK(first_character("\u00e9b").length == 2);
  CHECK(first_character("\u8bad").code == 0x8BAD);
  CHECK(first_character("\u8bad").length == 3);
  CHECK(first_character("\U0001D6FC").code == 0x1D6FC);
  CHECK(first_character("\U0001D6FC").length == 4);
}

TEST_CASE("what is no UTF-8 has no length", "[utf8]") {
  for (const char* text : {"\x80",
                           "\xc3",
                           "\xc3("
                           "x",
                           "\xc1\xbf",
                           "\xe0\x9f\xbf",
                           "\xed\xa0\x80",
                           "\xf0\x8f\xbf\xbf",
                           "\xf4\x90\x80\x80",
                           "\xf8\x88\x80\x80\x80",
                           "\xff"}) {
    CHECK(first_character(text).length == 0);
  }
}

TEST_CASE("bytes that are no UTF-8 are replaced one by one", "[utf8]") {
  CHECK(valid_utf8("").empty());
  CHECK(valid_utf8("plain \u8bad") == "plain \u8bad");
  CHECK(valid_utf8("caf\xe9.py") == "caf\ufffd.py");
  CHECK(valid_utf8("\xe8\xae") == "\ufffd\ufffd");
}

}  // namespace
}  // namespace fragcast
