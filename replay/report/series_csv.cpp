#include "replay/report/series_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

namespace fragcast {
namespace {

/// A field as RFC 4180 has it: in quotes if it holds what would end it.
std::string quoted(std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) return std::string{field};
  std::string out{'"'};
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

/// Hands text on in large pieces: streams cost more by the piece than rows do to format.
class Rows {
 public:
  explicit Rows(std::ostream& output) : output_{output} {}
  ~Rows() { hand_on(); }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  void add(std::string_view run, std::uint32_t event, const Usage& usage) {
    fmt::format_to(fmt::appender{text_},
                   "{},{},{},{},{},{}\n",
                   run,
                   event,
                   usage.requested.count(),
                   usage.allocated.count(),
                   usage.active.count(),
                   usage.reserved.count());
    constexpr std::size_t piece = std::size_t{1} << 16;
    if (text_.size() >= piece) hand_on();
  }

 private:
  void hand_on() {
    output_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
    text_.clear();
  }

  std::ostream& output_;
  fmt::memory_buffer text_;
};

void add_run(Rows& rows, std::string_view name, const Run& run, const Trace& trace) {
  const std::size_t count = std::min(run.series.size(), run.events);
  for (std::size_t i = 0; i < count; ++i) {
    // One entry of a history may have become several events: the last of them counts.
    const std::uint32_t source = trace.events[i].source;
    const bool is_last = i + 1 == count || trace.events[i + 1].source != source;
    if (is_last) rows.add(name, source, run.series[i]);
  }
}

}  // namespace

void write_series_csv(std::span<const Comparison> comparisons, std::ostream& output) {
  output << "run,event,requested,allocated,active,reserved\n";
  Rows rows{output};
  for (const Comparison& comparison : comparisons) {
    for (const ComparedRun& compared : comparison.runs) {
      const Run& run = compared.run;
      const std::string name = comparisons.size() > 1
                                   ? fmt::format("{}: {}", comparison.subject->device, run.name)
                                   : run.name;
      add_run(rows, quoted(name), run, comparison.trace_of(compared));
    }
  }
}

}  // namespace fragcast
