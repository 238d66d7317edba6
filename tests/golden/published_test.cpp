// Figures that people have published about real devices, against what the models say.

#include <fmt/format.h>

#include <sstream>
#include <string>
#include <vector>

#include "replay/engine/session.hpp"
#include "replay/formats/call_script.hpp"
#include "tests/support/catch.hpp"

namespace fragcast {
namespace {

struct Cycle {
  int number = 0;
  Bytes allocated;
  Bytes reserved;
  bool operator==(const Cycle&) const = default;
};

/// A block that stays, then cycles of two that go and a small one that stays.
std::string carving_script(int cycles) {
  std::string script =
      "conf max_split_size_mb:128,expandable_segments:True\nmalloc canary 64MiB 0\n";
  for (int i = 0; i < cycles; ++i) {
    script += fmt::format(
        "malloc a{0} 91MiB 0\nmalloc b{0} 45.5MiB 0\nmalloc f{0} 2MiB 0\nfree a{0}\nfree b{0}\n"
        "mark {0}\n",
        i);
  }
  return script;
}

TEST_CASE("expandable segments with max_split_size_mb grow as published for CUDA", "[golden]") {
  std::istringstream script{carving_script(101)};
  const Trace trace = read_call_script(script, "script");
  RunSpec spec;
  spec.model = find_model("cuda-caching");
  Session session{trace, resolve_conditions(trace, spec)};
  REQUIRE(session.refusal().empty());

  std::vector<Cycle> seen;
  int cycle = 0;
  while (!session.at_end()) {
    const bool end_of_cycle = session.next().kind == EventKind::mark;
    session.step();
    if (!end_of_cycle) continue;
    const Usage usage = current_usage(session.model().statistics());
    if (cycle % 20 == 0) {
      seen.push_back({.number = cycle, .allocated = usage.allocated, .reserved = usage.reserved});
    }
    ++cycle;
  }
  CHECK(seen == std::vector<Cycle>{{0, 66_MiB, 220_MiB},
                                   {20, 106_MiB, 2980_MiB},
                                   {40, 146_MiB, 5760_MiB},
                                   {60, 186_MiB, 8520_MiB},
                                   {80, 226_MiB, 11300_MiB},
                                   {100, 266_MiB, 14060_MiB}});
}

}  // namespace
}  // namespace fragcast
