#include "replay/trace/quantity.hpp"

#include <string>

#include "tests/support/catch.hpp"

namespace fragcast {
namespace {

Bytes parse(std::string_view text) { return parse_size(text, {}); }

std::string refusal(std::string_view text) {
  try {
    static_cast<void>(parse_size(text, {.file = "--device-memory", .line = {}, .byte = {}}));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("sizes are read as bytes or with a binary unit", "[quantity]") {
  CHECK(parse("0") == Bytes{0});
  CHECK(parse("33554432") == 32_MiB);
  CHECK(parse("512B") == 512_B);
  CHECK(parse("512KiB") == 512_KiB);
  CHECK(parse("530MiB") == 530_MiB);
  CHECK(parse("32GiB") == 32_GiB);
  CHECK(parse("2TiB") == 2048_GiB);
  CHECK(parse("32G") == 32_GiB);
  CHECK(parse("32g") == 32_GiB);
  CHECK(parse("32 gib") == 32_GiB);
}

TEST_CASE("fractions of a unit are exact to the byte", "[quantity]") {
  CHECK(parse("1.5GiB") == 1536_MiB);
  CHECK(parse("0.5KiB") == 512_B);
  CHECK(parse("0.1GiB") == Bytes{107374182});
  CHECK(parse("60.96GiB") == Bytes{65455301591});
  CHECK(parse("0.0009765625KiB") == 1_B);
  CHECK(parse("0.999999999999999999KiB") == 1_KiB);
}

TEST_CASE("the largest size is 4 EiB", "[quantity]") {
  CHECK(parse("4611686018427387904") == largest_size);
  CHECK(parse("4194304TiB") == largest_size);
  CHECK(refusal("4611686018427387905") ==
        "--device-memory: 4611686018427387905 is beyond 4 EiB, the largest size");
  CHECK(refusal("4194304.5TiB") ==
        "--device-memory: 4194304.5TiB is beyond 4 EiB, the largest size");
  CHECK(refusal("18446744073709551616") ==
        "--device-memory: 18446744073709551616 is beyond 4 EiB, the largest size");
  CHECK(refusal("99999999TiB") == "--device-memory: 99999999TiB is beyond 4 EiB, the largest size");
}

TEST_CASE("a size that could mean two things is refused with the way out", "[quantity]") {
  CHECK(refusal("32GB") ==
        "--device-memory: '32GB' may mean two sizes: write GiB for the binary unit, or bytes");
  CHECK(refusal("32kb") ==
        "--device-memory: '32kb' may mean two sizes: write KiB for the binary unit, or bytes");
}

TEST_CASE("what is no size is refused", "[quantity]") {
  CHECK(refusal("-5") == "--device-memory: -5 is negative: a size is not");
  CHECK(refusal("") ==
        "--device-memory: '' is not a size: write bytes, or a number with a unit such as 512MiB");
  CHECK(refusal("lots") ==
        "--device-memory: 'lots' is not a size: write bytes, or a number with a unit such as "
        "512MiB");
  CHECK(refusal("1.5") ==
        "--device-memory: '1.5' is a fraction of a byte: add a unit, such as GiB");
  CHECK(refusal("1.GiB") == "--device-memory: '1.GiB' lacks digits after the point");
  CHECK(refusal("5parsecs") ==
        "--device-memory: '5parsecs' has no unit that is known: KiB, MiB, GiB and TiB are");
  CHECK(refusal("1.0000000000000000001GiB") ==
        "--device-memory: '1.0000000000000000001GiB' has too many digits after the point: 18 are "
        "read");
}

TEST_CASE("sizes for people have three significant figures", "[quantity]") {
  CHECK(human_size(Bytes{0}) == "0 B");
  CHECK(human_size(512_B) == "512 B");
  CHECK(human_size(1_KiB) == "1.00 KiB");
  CHECK(human_size(Bytes{551'550'976}) == "526 MiB");
  CHECK(human_size(Bytes{1'320'702'444}) == "1.23 GiB");
  CHECK(human_size(20_MiB) == "20.0 MiB");
  CHECK(human_size(-20_MiB) == "-20.0 MiB");
  CHECK(human_size(1000_MiB) == "1000 MiB");
  CHECK(human_size(largest_size) == "4.00 EiB");
}

TEST_CASE("rounding never shows 1024 of a unit, nor a fourth figure", "[quantity]") {
  CHECK(human_size(1_MiB - 1_B) == "1.00 MiB");
  CHECK(human_size(1_GiB - 1_B) == "1.00 GiB");
  CHECK(human_size(Bytes{10'480'518}) == "10.0 MiB");
  CHECK(human_size(Bytes{104'805'172}) == "100 MiB");
}

TEST_CASE("exact sizes and counts have thousands separators", "[quantity]") {
  CHECK(exact_bytes(Bytes{551'550'976}) == "551,550,976 B");
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(5473) == "5,473");
  CHECK(grouped(-123456) == "-123,456");
  CHECK(grouped(-1234567) == "-1,234,567");
}

}  // namespace fragcast
