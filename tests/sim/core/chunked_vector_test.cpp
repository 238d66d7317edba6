#include "sim/core/chunked_vector.hpp"

#include <cstddef>

#include "tests/support/catch.hpp"

namespace fragcast {
namespace {

TEST_CASE("a chunked vector keeps its elements as it grows", "[core]") {
  ChunkedVector<int> numbers;
  const int count = 3 * static_cast<int>(ChunkedVector<int>::chunk_size) + 1;
  for (int i = 0; i < count; ++i) numbers.push_back(i);
  REQUIRE(numbers.size() == static_cast<std::size_t>(count));
  CHECK(numbers.back() == count - 1);
  int expected = 0;
  for (const int number : numbers) REQUIRE(number == expected++);
}

TEST_CASE("an element of a chunked vector can be appended to it", "[core]") {
  ChunkedVector<int> numbers;
  numbers.push_back(7);
  for (int i = 0; i < 10'000; ++i) numbers.push_back(numbers[0]);
  for (const int number : numbers) REQUIRE(number == 7);
}

TEST_CASE("elements beyond the first chunk of a chunked vector never move", "[core]") {
  ChunkedVector<int> numbers;
  for (std::size_t i = 0; i < ChunkedVector<int>::chunk_size + 1; ++i) numbers.push_back(0);
  const int* last = &numbers.back();
  for (std::size_t i = 0; i < 2 * ChunkedVector<int>::chunk_size; ++i) numbers.push_back(0);
  CHECK(&numbers[ChunkedVector<int>::chunk_size] == last);
}

}  // namespace
}  // namespace fragcast
