#include "replay/report/printable.hpp"

#include "tests/support/catch.hpp"

namespace fragcast {
namespace {

TEST_CASE("visible text is printed as it is", "[printable]") {
  CHECK(printable("").empty());
  CHECK(printable("train.py:12:forward") == "train.py:12:forward");
  CHECK(printable(R"(C:\train\new.py)") == R"(C:\train\new.py)");
  CHECK(printable("训练/möbius/𝛼.py") == "训练/möbius/𝛼.py");
}

TEST_CASE("control characters do not reach the terminal", "[printable]") {
  CHECK(printable("a\nb\r\tc") == "a\\nb\\r\\tc");
  CHECK(printable("\x1b[2Jgone") == "\\x1b[2Jgone");
  CHECK(printable(std::string_view{"a\0b", 3}) == "a\\x00b");
  CHECK(printable("\x7f") == "\\x7f");
  // CSI as one character of the second control set: U+009B.
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\x9b31m");
}

TEST_CASE("characters that disguise their neighbours are shown", "[printable]") {
  CHECK(printable("a\u202eyp.exe") == "a\\u202eyp.exe");
  CHECK(printable("\u2066x\u2069") == "\\u2066x\\u2069");
  CHECK(printable("\ufeffx\u200by") == "\\ufeffx\\u200by");
}

TEST_CASE("bytes that are no UTF-8 are shown one by one", "[printable]") {
  CHECK(printable("caf\xe9.py") == "caf\\xe9.py");
  CHECK(printable("\xe8\xae") == "\\xe8\\xae");                    // cut short
  CHECK(printable("\xc0\x80") == "\\xc0\\x80");                    // overlong
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // a surrogate
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
  CHECK(printable("\xff") == "\\xff");
  CHECK(printable("\xe8\xaeok") == "\\xe8\\xaeok");
}

}  // namespace
}  // namespace fragcast
