#include "replay/formats/price_file.hpp"

#include <sstream>

#include "replay/formats/input_error.hpp"
#include "tests/support/catch.hpp"

namespace fragcast {
namespace {

std::vector<PriceOverride> read(const std::string& text) {
  std::istringstream input{text};
  return read_prices(input, "prices.txt");
}

TEST_CASE("a line is a call, two numbers and, if it is unsure, two more", "[price_file]") {
  const auto prices = read("# ours\n\nsegment_alloc 120 1.5  # measured\npage_map 2 0 4 8\n");
  REQUIRE(prices.size() == 2);
  CHECK(prices[0].call == DeviceCall::segment_alloc);
  CHECK(prices[0].price == Price{.fixed_us = 120, .us_per_mib = 1.5});
  CHECK(prices[1].call == DeviceCall::page_map);
  CHECK(prices[1].price == Price{.fixed_us = 2, .low_divisor = 4, .high_factor = 8});
}

TEST_CASE("a file without prices is none", "[price_file]") { CHECK(read("# nothing\n").empty()); }

TEST_CASE("the prices that are shown of a device can be read", "[price_file]") {
  for (const KnownDevice& device : known_devices()) {
    INFO(device.name);
    const auto prices = read(price_file_of(device));
    REQUIRE(prices.size() == device_call_kinds);
    for (const auto& [call, price] : prices) {
      CHECK(price.fixed_us == Approx(device.prices[call].fixed_us));
      CHECK(price.us_per_mib == Approx(device.prices[call].us_per_mib));
      CHECK(price.low_divisor == Approx(device.prices[call].low_divisor));
      CHECK(price.high_factor == Approx(device.prices[call].high_factor));
    }
  }
  CHECK(price_file_of(*find_known_device("ascend910b")).find("a guess") != std::string::npos);
  CHECK(price_file_of(*find_known_device("a100")).find("a guess") == std::string::npos);
}

TEST_CASE("a line that cannot be read is named by its number", "[price_file]") {
  CHECK_THROWS_WITH(read("\nmalloc 1 2\n"),
                    Catch::StartsWith("prices.txt:2: 'malloc' is no device call; known are "
                                      "segment_alloc, segment_free, "));
  CHECK_THROWS_WITH(read("page_map 1\n"),
                    Catch::StartsWith("prices.txt:1: page_map needs two numbers"));
  CHECK_THROWS_WITH(read("page_map 1 2 3\n"), Catch::Contains("or four"));
  CHECK_THROWS_WITH(read("page_map 1 x\n"), "prices.txt:1: 'x' is not a number from 0 on");
  CHECK_THROWS_WITH(read("page_map -1 0\n"), "prices.txt:1: '-1' is not a number from 0 on");
  CHECK_THROWS_WITH(read("page_map 1us 0\n"), "prices.txt:1: '1us' is not a number from 0 on");
  CHECK_THROWS_WITH(read("page_map nan 0\n"), "prices.txt:1: 'nan' is not a number from 0 on");
  CHECK_THROWS_WITH(read("page_map 1e300 0\n"), "prices.txt:1: '1e300' is not a number from 0 on");
  CHECK_THROWS_WITH(read("page_map 1 0 0.5 2\n"), "prices.txt:1: '0.5' is not a number from 1 on");
  CHECK_THROWS_WITH(read("page_map 1 0\npage_map 2 0\n"),
                    "prices.txt:2: page_map has a price already");
}

TEST_CASE("a file that is not there cannot be read", "[price_file]") {
  CHECK_THROWS_WITH(read_price_file("no/such/file"), "no/such/file: cannot be read");
}

}  // namespace
}  // namespace fragcast
