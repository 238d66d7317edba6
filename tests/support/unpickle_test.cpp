#include "tests/support/unpickle.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/pickled.hpp"

namespace fragcast {
namespace {

using nlohmann::json;

TEST_CASE("plain data of a pickle is understood", "[unpickle]") {
  const std::string literal =
      "{'a': [1, 70000, -2, 8589934592, 18446744073709551615], 'b': (3, 4), 'c': True,"
      " 'd': None, 'e': 0.5, 'f': ''}";
  const json expected = json::parse(
      R"({"a":[1,70000,-2,8589934592,18446744073709551615],"b":[3,4],"c":true,"d":null,"e":0.5,"f":""})");
  CHECK(unpickle(pickled(literal)) == expected);
}

TEST_CASE("objects are the same wherever they are referred to", "[unpickle]") {
  CHECK(unpickle(pickled("[$a=[{'x': 1}], $a]")) == json::parse(R"([[{"x":1}],[{"x":1}]])"));
}

TEST_CASE("what memory_viz cannot read is an error", "[unpickle]") {
  CHECK_THROWS_AS(unpickle("\x80\x04\x8c\x02os\x8c\x06system\x93."), std::invalid_argument);
  CHECK_THROWS_AS(unpickle("cos\nsystem\n."), std::invalid_argument);
  CHECK_THROWS_AS(unpickle("\x80\x05]\x94."), std::invalid_argument);
  CHECK_THROWS_AS(unpickle("\x80\x04]"), std::invalid_argument);
}

}  // namespace
}  // namespace fragcast
