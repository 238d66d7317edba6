#include "replay/formats/long_lines.hpp"

#include "tests/support/catch.hpp"

namespace fragcast {
namespace {

TEST_CASE("lines come one by one, the last with or without its end", "[lines]") {
  for (const std::string text : {"a\n\nbc\n", "a\n\nbc"}) {
    LongLines lines{open_source(text, "text")};
    CHECK(lines.next() == "a");
    CHECK(lines.next() == "");
    CHECK(lines.next() == "bc");
    CHECK_FALSE(lines.next().has_value());
    CHECK_FALSE(lines.next().has_value());
  }
}

TEST_CASE("a line may be longer than the window it is read through", "[lines]") {
  const std::string first(3 * ByteSource::window_size + 5, 'x');
  const std::string second(ByteSource::window_size - 1, 'y');
  const std::string text = first + "\n" + second + "\nz\n";
  LongLines lines{open_source(text, "text")};
  CHECK((lines.next() == first));
  CHECK((lines.next() == second));
  CHECK(lines.next() == "z");
  CHECK_FALSE(lines.next().has_value());
}

}  // namespace
}  // namespace fragcast
