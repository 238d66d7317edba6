// What cannot matter does not: the numbers of allocations, and the way a trace takes through a
// file.

#include <cstdint>
#include <sstream>

#include "replay/formats/call_script.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/properties.hpp"
#include "tests/support/situations.hpp"
#include "tests/support/transcript.hpp"

namespace fragcast {
namespace {

AllocationId renamed(AllocationId id) {
  // Apart, and in another order than they were born in.
  return AllocationId{(std::uint32_t{1} << 16) - 3 * id.value()};
}

Trace with_other_names(const Trace& trace) {
  Trace other;
  other.conditions = trace.conditions;
  other.controls = trace.controls;
  for (Event event : trace.events) {
    event.allocation = renamed(event.allocation);
    other.events.push_back(event);
  }
  for (Control& control : other.controls) {
    if (auto* erase = std::get_if<control::EraseStream>(&control)) {
      erase->allocation = renamed(erase->allocation);
    }
  }
  return other;
}

template <class Change>
void check_change_is_invisible(Change change) {
  for (const ModelEntry& model : all_models()) {
    for (const Situation& situation : situations_of(model)) {
      DYNAMIC_SECTION(model.name << ": " << situation.name) {
        check_property(situation.trials, [&](const Trace& trace) {
          const bool same =
              is_same(transcript_of(trace, model), transcript_of(change(trace), model));
          return same ? "" : "the runs differ";
        });
      }
    }
  }
}

}  // namespace

TEST_CASE("renaming allocations changes nothing", "[property]") {
  check_change_is_invisible(with_other_names);
}

TEST_CASE("a trace written as a call script runs as it did", "[property]") {
  check_change_is_invisible([](const Trace& trace) {
    std::istringstream script{script_of(trace)};
    return read_call_script(script, "written");
  });
}

}  // namespace fragcast
