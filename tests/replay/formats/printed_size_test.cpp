#include "replay/formats/printed_size.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "policies/caching/message_size.hpp"
#include "tests/support/catch.hpp"

namespace fragcast {
namespace {

SizeRange range_of(std::string_view text) {
  const PrintedSizeAt found = printed_size_at(text);
  REQUIRE(found.state == PrintedSizeAt::State::found);
  CHECK(found.length == text.size());
  CHECK_FALSE(found.size.impossible);
  return found.size.range;
}

std::string without_blanks(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}

}  // namespace

TEST_CASE("a printed size is the range of all sizes that print like it", "[printed_size]") {
  CHECK(range_of("0bytes") == SizeRange{.least = 0_B, .most = 0_B});
  CHECK(range_of("1024bytes") == SizeRange{.least = 1024_B, .most = 1024_B});
  CHECK(range_of("2.00KiB") == SizeRange{.least = 2043_B, .most = 2053_B});
  // 602 MiB and half of a hundredth, 5,242.88 bytes, to either side.
  CHECK(range_of("602.00MiB") == SizeRange{.least = 631'237'510_B, .most = 631'247'994_B});
}

TEST_CASE("units change above 1024 of the smaller one, which narrows a size", "[printed_size]") {
  CHECK(range_of("1.00KiB") == SizeRange{.least = 1025_B, .most = 1029_B});
  CHECK(range_of("1024.00KiB") == SizeRange{.least = 1'048'571_B, .most = 1'048'576_B});
  CHECK(range_of("1.00MiB") == SizeRange{.least = 1'048'577_B, .most = 1'053'818_B});
  CHECK(range_of("1024.00MiB").most == 1_GiB);
  CHECK(range_of("1.00GiB").least == 1_GiB + 1_B);
  // No allocator prints this, but people do.
  CHECK(range_of("0.50GiB").contains(512_MiB));
}

TEST_CASE("the range of a printed size holds the size", "[printed_size]") {
  std::uint64_t state = 1;
  for (int i = 0; i < 20'000; ++i) {
    state = state * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
    // Of all magnitudes up to 1 TiB.
    const Bytes size{static_cast<std::int64_t>((state >> 20) >> (state % 44))};
    if (size > 1024 * 1_GiB) continue;
    const std::string text = without_blanks(message_size(size));
    INFO(text);
    const SizeRange range = range_of(text);
    CHECK(range.contains(size));
    if (range.most == range.least) continue;
    // Both ends are taken in; at a tie only one of two neighbours prints like it.
    CHECK(without_blanks(message_size(range.least + 1_B)) == text);
    CHECK(without_blanks(message_size(range.most - 1_B)) == text);
  }
}

TEST_CASE("more decimals than there are bytes are still one size", "[printed_size]") {
  CHECK(range_of("1.02004KiB") == SizeRange{.least = 1045_B, .most = 1045_B});
}

TEST_CASE("an absurd request is still a size", "[printed_size]") {
  CHECK(range_of("1073741824.00GiB").contains(Bytes{std::int64_t{1} << 60}));
}

TEST_CASE("what is beyond all sizes is flagged as impossible", "[printed_size]") {
  for (const std::string_view text :
       {"17179869184.00GiB", "18446744073709551615bytes", "99999999999999999999bytes"}) {
    INFO(text);
    const PrintedSizeAt found = printed_size_at(text);
    REQUIRE(found.state == PrintedSizeAt::State::found);
    CHECK(found.size.impossible);
  }
}

TEST_CASE("a size that the text may go on with is told from none", "[printed_size]") {
  using State = PrintedSizeAt::State;
  for (const std::string_view text : {"", "6", "602", "602.", "602.0", "602.00", "602.00Mi"}) {
    INFO(text);
    CHECK(printed_size_at(text).state == State::cut);
  }
  for (const std::string_view text : {"x", ".5GiB", "602.00MB", "602.00 ", "-1bytes"}) {
    INFO(text);
    CHECK(printed_size_at(text).state == State::none);
  }
}

TEST_CASE("differences of ranges hold all that they can come to", "[printed_size]") {
  const SizeRange a{.least = 10_B, .most = 20_B};
  const SizeRange b{.least = 15_B, .most = 18_B};
  CHECK(a - b == SizeRange{.least = -8_B, .most = 5_B});
  CHECK(at_least_zero(a - b) == SizeRange{.least = 0_B, .most = 5_B});
  CHECK(range_text({.least = -8_B, .most = 5_B}) == "-8 bytes..5 bytes");
  CHECK(range_text({.least = 1_MiB, .most = 1_MiB}) == "1024.00 KiB");
}

}  // namespace fragcast
