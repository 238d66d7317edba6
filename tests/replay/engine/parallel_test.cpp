#include "replay/engine/parallel.hpp"

#include <stdexcept>
#include <string>
#include <thread>

#include "tests/support/catch.hpp"

namespace fragcast {
namespace {

TEST_CASE("results come in the order of their indices for any number of threads", "[parallel]") {
  for (const unsigned threads : {0U, 1U, 2U, 7U, 100U}) {
    const std::vector<std::string> texts =
        parallel_map(20, threads, [](std::size_t i) { return std::to_string(i * i); });
    REQUIRE(texts.size() == 20);
    CHECK(texts[0] == "0");
    CHECK(texts[19] == "361");
  }
}

TEST_CASE("nothing to do gives nothing", "[parallel]") {
  CHECK(parallel_map(0, 4, [](std::size_t i) { return i; }).empty());
}

TEST_CASE("of several exceptions the one of the lowest index is thrown", "[parallel]") {
  const auto work = [](std::size_t i) -> int {
    if (i % 3 == 2) throw std::runtime_error{std::to_string(i)};
    return 0;
  };
  for (const unsigned threads : {1U, 4U}) CHECK_THROWS_WITH(parallel_map(12, threads, work), "2");
}

TEST_CASE("results need no default constructor", "[parallel]") {
  struct Value {
    explicit Value(std::size_t n) : number{n} {}
    std::size_t number;
  };
  CHECK(parallel_map(3, 2, [](std::size_t i) { return Value{i}; })[2].number == 2);
}

}  // namespace
}  // namespace fragcast
