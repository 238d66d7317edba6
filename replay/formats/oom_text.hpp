#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/formats/byte_source.hpp"
#include "replay/formats/oom_message.hpp"

namespace fragcast {

/// An out-of-memory message and where it stands.
struct FoundOom {
  OomMessage message;
  std::string file;
  /// Where it begins, from 1.
  std::uint64_t line = 0;
  /// Who wrote it, such as "rank 3"; empty if no prefix tells.
  std::string writer;
  /// Of the line, or the last that was seen in the file up to there; empty if there was none.
  std::string time;
  /// How often the same writer says the same in the same file.
  std::uint64_t times = 1;
};

/// What a log says about running out of memory.
struct OomLog {
  std::string file;
  std::uint64_t lines = 0;
  /// In the order of the file, each once.
  std::vector<FoundOom> found;
  /// Lines that mention it without any figure.
  std::uint64_t mentions = 0;
  std::uint64_t first_mention = 0;
  /// Further messages, beyond the `most_kept` different ones.
  std::uint64_t not_kept = 0;
  /// The file holds bytes that no text has.
  bool binary = false;
  /// What was cut off at its end, such as "its gzip stream"; empty if nothing was.
  std::string cut;

  static constexpr std::size_t most_kept = 10'000;
};

/// Finds all out-of-memory messages of a log, whatever else it holds: messages with prefixes, in
/// colour, within other text, and broken by the log's own wrapping, with the prefix on each line or
/// without. Memory is bounded by the messages kept, not by the log.
[[nodiscard]] OomLog read_oom_log(ByteSource source);

/// The same of a file, plain or compressed; an empty one is a log that says nothing. `name` is what
/// the user calls it. Throws InputError if it cannot be read.
[[nodiscard]] OomLog read_oom_log(const std::string& path, const std::string& name);

/// The first message of a text that is one, such as a model's own; none if there is none.
[[nodiscard]] std::optional<OomMessage> parse_oom(std::string_view text);

}  // namespace fragcast
