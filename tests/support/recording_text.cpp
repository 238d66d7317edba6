#include "tests/support/recording_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace fragcast {
namespace {

constexpr std::uint64_t default_stream = 1000;

std::uint64_t parse_term(std::string term) {
  std::uint64_t unit = 1;
  for (const auto& [name, bytes] : {std::pair{"KiB", std::uint64_t{1} << 10},
                                    std::pair{"MiB", std::uint64_t{1} << 20},
                                    std::pair{"GiB", std::uint64_t{1} << 30}}) {
    if (term.size() > 3 && term.substr(term.size() - 3) == name) {
      term.resize(term.size() - 3);
      unit = bytes;
    }
  }
  return std::stoull(term, nullptr, 0) * unit;
}

std::uint64_t parse_number(const std::string& text) {
  std::uint64_t sum = 0;
  std::istringstream terms{text};
  for (std::string term; std::getline(terms, term, '+');) sum += parse_term(term);
  return sum;
}

Address parse_address(const std::string& text) { return Address{parse_number(text)}; }
Bytes parse_size(const std::string& text) {
  return Bytes{static_cast<std::int64_t>(parse_number(text))};
}

const std::map<std::string, RecordedAction, std::less<>> actions{
    {"alloc", RecordedAction::alloc},
    {"free_requested", RecordedAction::free_requested},
    {"free_completed", RecordedAction::free_completed},
    {"segment_alloc", RecordedAction::segment_alloc},
    {"segment_free", RecordedAction::segment_free},
    {"segment_map", RecordedAction::segment_map},
    {"segment_unmap", RecordedAction::segment_unmap},
    {"oom", RecordedAction::oom},
    {"snapshot", RecordedAction::snapshot},
    {"workspace_snapshot", RecordedAction::workspace_snapshot},
};

/// One line, cut into words; `key=value` words apart.
struct Line {
  std::vector<std::string> words;
  std::map<std::string, std::string, std::less<>> options;

  explicit Line(const std::string& text) {
    std::istringstream in{text.substr(0, text.find('#'))};
    for (std::string word; in >> word;) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) {
        words.push_back(word);
      } else {
        options[word.substr(0, equals)] = word.substr(equals + 1);
      }
    }
  }
  [[nodiscard]] std::string at(std::size_t i) const {
    if (i >= words.size()) throw std::invalid_argument{"a line of a recording is too short"};
    return words[i];
  }
  [[nodiscard]] bool has(std::string_view word) const {
    return std::find(words.begin(), words.end(), word) != words.end();
  }
};

class Reader {
 public:
  Recording read(std::string_view text) {
    recording_.devices.emplace_back();
    std::istringstream lines{std::string{text}};
    for (std::string line; std::getline(lines, line);) read_line(Line{line});
    return std::move(recording_);
  }

 private:
  RecordedDevice& device() { return recording_.devices.front(); }

  void read_line(const Line& line) {
    if (line.words.empty()) return;
    if (line.at(0) == "segment") return read_segment(line);
    if (line.at(0) == "block") return read_block(line);
    const auto action = actions.find(line.at(0));
    if (action == actions.end()) throw std::invalid_argument{"no such action: " + line.at(0)};
    RecordedEntry entry;
    entry.action = action->second;
    if (line.words.size() > 1) {
      entry.address = parse_address(line.at(1));
      entry.size = parse_size(line.at(2));
      entry.stream = stream_of(line);
      entry.pool = pool_of(line);
      if (line.options.count("pool") > 0) recording_.entries_have_pools = true;
    }
    device().entries.push_back(entry);
  }

  void read_segment(const Line& line) {
    RecordedSegment segment;
    segment.address = parse_address(line.at(1));
    segment.total_size = parse_size(line.at(2));
    segment.small = line.at(3) == "small";
    segment.expandable = line.has("expandable");
    segment.stream = stream_of(line);
    segment.pool = pool_of(line);
    device().segments.push_back(segment);
  }

  void read_block(const Line& line) {
    const std::string state = line.at(4);
    device().segments.back().blocks.push_back(
        {.address = parse_address(line.at(1)),
         .size = parse_size(line.at(2)),
         .requested = parse_size(line.at(3)),
         .stack = {},
         .state = state == "allocated" ? RecordedState::active_allocated
                  : state == "pending" ? RecordedState::active_pending_free
                                       : RecordedState::inactive});
  }

  std::uint16_t stream_of(const Line& line) {
    const auto option = line.options.find("stream");
    const std::uint64_t handle =
        option == line.options.end() ? default_stream : parse_number(option->second);
    auto& streams = recording_.streams;
    const auto known = std::find(streams.begin(), streams.end(), handle);
    const auto index = static_cast<std::uint16_t>(known - streams.begin());
    if (known == streams.end()) streams.push_back(handle);
    return index;
  }

  std::uint16_t pool_of(const Line& line) {
    const auto option = line.options.find("pool");
    const auto number =
        option == line.options.end() ? 0 : static_cast<std::int64_t>(parse_number(option->second));
    auto& pools = recording_.pools;
    const std::pair<std::int64_t, std::int64_t> id{0, number};
    const auto known = std::find(pools.begin(), pools.end(), id);
    const auto index = static_cast<std::uint16_t>(known - pools.begin());
    if (known == pools.end()) pools.push_back(id);
    return index;
  }

  Recording recording_;
};

}  // namespace

Recording recording_from_text(std::string_view text) { return Reader{}.read(text); }

}  // namespace fragcast
