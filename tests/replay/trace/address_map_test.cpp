#include "replay/trace/address_map.hpp"

#include <cstdint>
#include <map>

#include "tests/support/catch.hpp"
#include "tests/support/random_trace.hpp"

using namespace fragcast;

TEST_CASE("an address map agrees with an ordered map whatever is put and erased") {
  const Choose choose = choose_by_seed(7);
  AddressMap<std::uint64_t> map;
  std::map<BlockKey, std::uint64_t> expected;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const BlockKey key{.stream = StreamId{static_cast<std::uint16_t>(choose(3))},
                       .address = Address{choose(400) * 512}};
    if (choose(2) == 0) {
      REQUIRE(map.put(key, i) == expected.insert_or_assign(key, i).second);
    } else {
      map.erase(key);
      expected.erase(key);
    }
    REQUIRE(map.size() == expected.size());
    const auto known = expected.find(key);
    const std::uint64_t* found = map.find(key);
    REQUIRE((found != nullptr) == (known != expected.end()));
    if (found != nullptr) REQUIRE(*found == known->second);
  }

  std::map<BlockKey, std::uint64_t> all;
  map.for_each([&](BlockKey key, std::uint64_t value) { all.emplace(key, value); });
  CHECK(all == expected);
}

TEST_CASE("the same address on two streams is two keys") {
  AddressMap<int> map;
  map.put({.stream = StreamId{std::uint16_t{0}}, .address = Address{512}}, 1);
  map.put({.stream = StreamId{std::uint16_t{1}}, .address = Address{512}}, 2);
  map.erase({.stream = StreamId{std::uint16_t{0}}, .address = Address{512}});
  REQUIRE(map.find({.stream = StreamId{std::uint16_t{1}}, .address = Address{512}}) != nullptr);
  CHECK(*map.find({.stream = StreamId{std::uint16_t{1}}, .address = Address{512}}) == 2);
  CHECK(map.find({.stream = StreamId{std::uint16_t{0}}, .address = Address{512}}) == nullptr);
}

TEST_CASE("an address map without entries finds and erases nothing") {
  AddressMap<int> map;
  map.erase({});
  CHECK(map.find({}) == nullptr);
  CHECK(map.size() == 0);
}
