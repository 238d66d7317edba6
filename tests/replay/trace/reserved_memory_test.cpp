#include "replay/trace/reserved_memory.hpp"

#include <fmt/format.h>

#include <string>

#include "tests/support/catch.hpp"

using namespace fragcast;

namespace {

constexpr StreamId first_stream{std::uint16_t{0}};
constexpr StreamId second_stream{std::uint16_t{1}};

Stretch segment(std::uint64_t begin, Bytes size, StreamId stream = first_stream) {
  return {.extent = {Address{begin}, size},
          .stream = stream,
          .pool = {},
          .kind = PoolKind::large,
          .expandable = false};
}

Stretch mapped(std::uint64_t begin, Bytes size) {
  Stretch stretch = segment(begin, size);
  stretch.expandable = true;
  return stretch;
}

std::string shown(const ReservedMemory& memory) {
  std::string text;
  for (const auto& [key, stretch] : memory.stretches()) {
    text += fmt::format("[{}:{}+{}]",
                        stretch.stream.value(),
                        stretch.extent.begin.value(),
                        stretch.extent.size.count());
  }
  return text;
}

}  // namespace

TEST_CASE("segments that touch stay apart, mapped stretches grow together") {
  ReservedMemory memory;
  REQUIRE(memory.add(segment(100, 50_B)));
  REQUIRE(memory.add(segment(150, 50_B)));
  REQUIRE(memory.add(mapped(300, 20_B)));
  REQUIRE(memory.add(mapped(340, 20_B)));
  REQUIRE(memory.add(mapped(320, 20_B)));
  CHECK(shown(memory) == "[0:100+50][0:150+50][0:300+60]");
  CHECK(memory.total() == 160_B);
}

TEST_CASE("memory of one stream cannot overlap, memory of two streams can") {
  ReservedMemory memory;
  REQUIRE(memory.add(segment(100, 50_B)));
  CHECK_FALSE(memory.add(segment(149, 10_B)));
  CHECK_FALSE(memory.add(segment(90, 11_B)));
  CHECK(memory.add(segment(100, 50_B, second_stream)));
  CHECK(memory.total() == 100_B);
}

TEST_CASE("taking from the middle of a mapped stretch leaves both ends") {
  ReservedMemory memory;
  REQUIRE(memory.add(mapped(100, 60_B)));
  const auto taken = memory.take(first_stream, {Address{120}, 20_B});
  REQUIRE(taken);
  CHECK(taken->extent == Extent{Address{100}, 60_B});
  CHECK(shown(memory) == "[0:100+20][0:140+20]");
  CHECK(memory.total() == 40_B);
}

TEST_CASE("taking what is only partly there takes that part and says so") {
  ReservedMemory memory;
  REQUIRE(memory.add(mapped(100, 20_B)));
  REQUIRE(memory.add(mapped(140, 20_B)));
  CHECK_FALSE(memory.take(first_stream, {Address{110}, 40_B}));
  CHECK(shown(memory) == "[0:100+10][0:150+10]");
  CHECK_FALSE(memory.take(second_stream, {Address{100}, 10_B}));
  CHECK(memory.total() == 20_B);
}

TEST_CASE("a stretch of unknown kind takes the kind of the one it grows together with") {
  ReservedMemory memory;
  Stretch unknown = mapped(100, 20_B);
  unknown.kind.reset();
  REQUIRE(memory.add(unknown));
  REQUIRE(memory.add(mapped(120, 20_B)));
  CHECK(memory.find({.stream = first_stream, .address = Address{100}})->kind == PoolKind::large);
}

TEST_CASE("a plain segment of the default pools is idle while no block lies in it") {
  ReservedMemory memory;
  REQUIRE(memory.add(segment(100, 50_B)));
  REQUIRE(memory.add(mapped(300, 20_B)));
  Stretch private_segment = segment(200, 50_B);
  private_segment.pool = PoolId{1u};
  REQUIRE(memory.add(private_segment));
  CHECK(memory.idle_segments() == 1);
  memory.block_begins({.stream = first_stream, .address = Address{110}});
  memory.block_begins({.stream = first_stream, .address = Address{130}});
  CHECK(memory.idle_segments() == 0);
  memory.block_ends({.stream = first_stream, .address = Address{110}});
  CHECK(memory.idle_segments() == 0);
  memory.block_ends({.stream = first_stream, .address = Address{130}});
  CHECK(memory.idle_segments() == 1);
  memory.take(first_stream, {Address{100}, 50_B});
  CHECK(memory.idle_segments() == 0);
}
