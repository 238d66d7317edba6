#include "replay/transforms/scale_sizes.hpp"

#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/parse_layout.hpp"
#include "tests/support/stepped.hpp"
#include "tests/support/trace_builder.hpp"

namespace fragcast {

TEST_CASE("every request is larger by the factor, to the nearest byte", "[scale_sizes]") {
  const Trace trace = stepped(
      "malloc a 1000 0\n"
      "step\n"
      "malloc b 150 1\n"
      "free a\n"
      "malloc c 1 0\n"
      "malloc d 0 0\n");
  CHECK(lines_of(scale_sizes(trace, 1.01)) == lines_of(stepped("malloc a 1010 0\n"
                                                               "step\n"
                                                               "malloc b 152 1\n"
                                                               "free a\n"
                                                               "malloc c 1 0\n"
                                                               "malloc d 0 0\n")));
}

TEST_CASE("requests that are made smaller ask for a byte at least", "[scale_sizes]") {
  const Trace smaller = scale_sizes(stepped("malloc a 1 0\nmalloc b 200 0\n"), 0.25);
  CHECK(lines_of(smaller) == lines_of(stepped("malloc a 1 0\nmalloc b 50 0\n")));
}

TEST_CASE("what a trace began with keeps its size", "[scale_sizes]") {
  TraceBuilder builder;
  builder.begin_with(parse_layout("[A 4M][. 16M]"));
  builder.allocate(100_B);
  const Trace larger = scale_sizes(builder.trace(), 1.5);
  CHECK(larger.initial.heap == builder.trace().initial.heap);
  CHECK(larger.events[0].size == 150_B);
}

}  // namespace fragcast
