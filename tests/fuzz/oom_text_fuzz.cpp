#include <cstddef>
#include <cstdint>
#include <string_view>

#include "replay/explain/oom.hpp"
#include "replay/formats/input_error.hpp"
#include "replay/formats/oom_text.hpp"
#include "sim/core/check.hpp"

// Any bytes as a log. Whatever is found has a place in it, and an answer that does not depend on
// figures that are impossible.

namespace {

using namespace fragcast;

void check_message(const FoundOom& found, const OomLog& log) {
  FRAGCAST_CHECK(found.line >= 1 && found.line <= log.lines, "a message has a line");
  FRAGCAST_CHECK(found.times >= 1, "a message was found at least once");
  for (const auto& size : found.message.figures) {
    if (!size || size->impossible) continue;
    FRAGCAST_CHECK(size->range.least <= size->range.most && size->range.least >= 0_B,
                   "a printed size is a range");
  }
  const OomJudgement judged = judge(found.message);
  FRAGCAST_CHECK(!judged.findings.empty(), "every message is answered");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  if (text.empty()) return 0;
  try {
    const OomLog log = read_oom_log(open_source(text, "input"));
    for (const FoundOom& found : log.found) check_message(found, log);
  } catch (const InputError&) {
    // Compressed bytes that are damaged.
  }
  return 0;
}
