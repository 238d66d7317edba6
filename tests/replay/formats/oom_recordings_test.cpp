// The messages of the real allocators, beside the counters that they print.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "replay/formats/long_lines.hpp"
#include "replay/formats/oom_text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/recordings.hpp"

namespace fragcast {
namespace {

using nlohmann::json;

/// What a script says of the device and of its calls.
struct Script {
  Bytes device_memory = 64_GiB;
  /// By the number of the call; zero for what is no malloc.
  std::vector<Bytes> requested;
};

Script read_script(const std::filesystem::path& file) {
  Script script;
  LongLines lines{open_source(file.string())};
  while (const auto line = lines.next()) {
    const std::string text{line->substr(0, line->find('#'))};
    std::istringstream words{text};
    std::string word;
    if (!(words >> word)) continue;
    std::string id;
    std::int64_t size = 0;
    if (word == "device_memory") {
      words >> size;
      script.device_memory = Bytes{size};
    } else if (word == "malloc") {
      words >> id >> size;
      script.requested.emplace_back(size);
    } else if (word != "conf" && word != "fraction" && word != "events" && word != "soc") {
      script.requested.emplace_back(0);
    }
  }
  return script;
}

void check_figure(const OomMessage& message, OomFigure figure, Bytes exact) {
  if (!message.printed(figure)) return;
  INFO(name_of(figure) << " " << message.printed(figure)->text << " of " << exact.count());
  REQUIRE(message.figure(figure).has_value());
  CHECK(message.figure(figure)->contains(exact));
}

void check_line(std::string_view text, const Script& script) {
  const auto message = parse_oom(text);
  REQUIRE(message.has_value());
  CHECK_FALSE(message->cut);
  const json answer = json::parse(text);
  const auto counter = [&](const char* name) {
    return Bytes{answer.at(name).at(0).get<std::int64_t>()};
  };
  const Bytes allocated = counter("allocated");
  const Bytes reserved = counter("reserved");
  check_figure(*message, OomFigure::allocated, allocated);
  check_figure(*message, OomFigure::active, counter("active"));
  check_figure(*message, OomFigure::reserved, reserved);
  check_figure(*message, OomFigure::unallocated, reserved - allocated);
  check_figure(*message, OomFigure::total, script.device_memory);
  const Bytes requested = script.requested.at(answer.at("op").get<std::size_t>());
  check_figure(*message, OomFigure::requested, requested);
  if (const auto tried = message->figure(OomFigure::tried)) CHECK(tried->most >= requested);
  CHECK(message->figure_count() >= (message->wording == OomWording::npu_rejected ? 1 : 5));
}

/// How many messages a file of answers holds; each is checked.
std::uint64_t check_answers(const std::filesystem::path& file) {
  std::string script_name = file.string();
  script_name.replace(
      script_name.size() - std::string_view{".jsonl.gz"}.size(), std::string::npos, ".txt.gz");
  const Script script = read_script(script_name);
  LongLines lines{open_source(file.string())};
  std::uint64_t messages = 0;
  std::uint64_t number = 0;
  while (const auto line = lines.next()) {
    ++number;
    if (line->find("out of memory") == std::string_view::npos) continue;
    INFO(file.string() << ":" << number);
    check_line(*line, script);
    ++messages;
  }
  const OomLog log = read_oom_log(open_source(file.string()));
  std::uint64_t found = 0;
  for (const FoundOom& oom : log.found) found += oom.times;
  INFO(file.string());
  CHECK(found == messages);
  CHECK(log.mentions == 0);
  CHECK(log.lines == number);
  return messages;
}

std::uint64_t check_folder(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    if (entry.path().string().ends_with(".jsonl.gz")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::uint64_t messages = 0;
  for (const auto& file : files) messages += check_answers(file);
  return messages;
}

}  // namespace

TEST_CASE("messages kept with the tests are found, each figure within its rounding",
          "[oom_recordings]") {
  const std::filesystem::path golden = FRAGCAST_SOURCE_DIR "/tests/golden";
  CHECK(check_folder(golden / "npu") > 0);
  check_folder(golden / "cuda");
}

TEST_CASE("every recorded message is found, each figure within its rounding", "[oom_recordings]") {
  std::uint64_t messages = 0;
  for (const std::string_view folder :
       {"golden/cases", "golden/rules", "golden/npu", "golden/cuda"}) {
    const auto found = recording(folder);
    if (!found) return;
    messages += check_folder(*found);
  }
  // 1,546 + 227 of torch_npu, 57 rejections, 145 + 70 of CUDA.
  CHECK(messages == 2045);
}

}  // namespace fragcast
