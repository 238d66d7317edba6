#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "replay/formats/call_script.hpp"
#include "replay/formats/input_error.hpp"
#include "sim/core/check.hpp"

// Any text: it is refused with an InputError, or read, written and read again as the same events.

namespace {

using namespace fragcast;

Trace read(std::string_view text) {
  return read_call_script(
      [text]() mutable -> std::optional<std::string_view> {
        if (text.empty()) return std::nullopt;
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        return line;
      },
      "fuzz");
}

bool is_same(const Event& a, const Event& b) {
  return a.kind == b.kind && a.size == b.size && a.allocation == b.allocation &&
         a.stream == b.stream && a.source == b.source && a.detail == b.detail;
}

void check_same(const Trace& a, const Trace& b) {
  FRAGCAST_CHECK(a.events.size() == b.events.size(), "events were lost");
  for (std::size_t i = 0; i < a.events.size(); ++i) {
    FRAGCAST_CHECK(is_same(a.events[i], b.events[i]), "an event has changed");
  }
  FRAGCAST_CHECK(a.labels == b.labels, "a mark has changed");
  FRAGCAST_CHECK(a.stacks.stack_count() == b.stacks.stack_count(), "a call site has changed");
  FRAGCAST_CHECK(a.conditions.settings == b.conditions.settings, "the settings have changed");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  static_cast<void>(looks_like_call_script(text));
  try {
    const Trace trace = read(text);
    std::ostringstream written;
    write_call_script(trace, written);
    check_same(trace, read(written.str()));
  } catch (const InputError&) {
    return 0;
  }
  return 0;
}
