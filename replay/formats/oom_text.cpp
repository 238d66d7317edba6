#include "replay/formats/oom_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include "replay/formats/bytes/wrappings.hpp"
#include "replay/formats/log_lines.hpp"
#include "replay/formats/log_prefix.hpp"
#include "replay/formats/oom_grammar.hpp"

namespace fragcast {
namespace {

/// The most lines that a message is looked for on: at 20 characters a line it fits.
constexpr std::size_t most_lines = 24;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

/// The length of a terminal's control sequence (ESC [ … letter) at the beginning of a text, also as
/// it is copied from a screen (^[[36m); 0 if there is none.
std::size_t control_sequence(std::string_view text) {
  const std::size_t begin = text.starts_with("\x1b[") ? 2 : text.starts_with("^[[") ? 3 : 0;
  if (begin == 0) return 0;
  std::size_t end = begin;
  while (end < text.size() && text[end] >= 0x20 && text[end] < 0x40) ++end;
  return std::min(end + 1, text.size());
}

/// Without colours.
std::string plain(std::string text) {
  if (text.find('\x1b') == std::string::npos && text.find("^[[") == std::string::npos) return text;
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t control = control_sequence(std::string_view{text}.substr(at));
    if (control == 0) result += text[at];
    at += std::max<std::size_t>(control, 1);
  }
  return result;
}

std::string squeezed(std::string_view text) {
  std::string result{text};
  result.erase(std::remove_if(result.begin(), result.end(), is_blank), result.end());
  return result;
}

/// What stands before the `n`-th character that is no blank.
std::string_view before_character(std::string_view text, std::size_t n) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (is_blank(text[at])) continue;
    if (n == 0) break;
    --n;
  }
  return text.substr(0, at);
}

/// The message as one text: what tells repeats.
std::string identity(const FoundOom& found) {
  std::string text = fmt::format("{}\n{}\n{}",
                                 found.writer,
                                 name_of(found.message.wording),
                                 found.message.device.value_or(-1));
  for (const auto& size : found.message.figures) text += "\n" + (size ? size->text : "");
  return text;
}

/// Goes through the lines of a log once, with a look at those that follow.
class Scan {
 public:
  explicit Scan(ByteSource source) : lines_{std::move(source)} {}

  void run(OomLog& log) {
    while (const LogLine* line = peek(0)) {
      const LogLine current = *line;
      ahead_.pop_front();
      read_line(current, log);
    }
    log.lines = lines_.count();
    log.binary = lines_.binary();
    log.cut = lines_.cut();
  }

 private:
  /// The line `n` behind the current one; null behind the end.
  const LogLine* peek(std::size_t n) {
    while (ahead_.size() <= n) {
      auto line = lines_.next();
      if (!line) return nullptr;
      line->text = plain(std::move(line->text));
      ahead_.push_back(std::move(*line));
    }
    return &ahead_[n];
  }

  void read_line(const LogLine& line, OomLog& log) {
    if (std::string time = time_of(line.text); !time.empty()) time_ = std::move(time);
    std::string text = squeezed(line.text);
    for (std::size_t from = 0; from <= text.size();) {
      OomMatch match = find_oom(text, from);
      if (match.state == OomMatch::State::unfinished) match = read_on(line, text, match);
      if (match.state == OomMatch::State::none) return;
      if (match.state == OomMatch::State::mention) {
        // Then there is no message behind it either.
        mention(line.number, log);
        return;
      }
      keep(line, match, log);
      from = match.end;
    }
  }

  /// Counts a line once, in however many pieces it comes.
  void mention(std::uint64_t line, OomLog& log) {
    if (line == last_mention_) return;
    last_mention_ = line;
    if (log.mentions++ == 0) log.first_mention = line;
  }

  /// Adds to `text`, which ends within a message, the lines that the log has broken it into.
  OomMatch read_on(const LogLine& line, std::string& text, OomMatch match) {
    const std::size_t begin = match.begin;
    Longer known{.text = text.substr(begin), .match = std::move(match)};
    known.match.begin = 0;
    known.match.end -= begin;
    std::size_t taken = 0;
    while (known.match.state == OomMatch::State::unfinished && taken < most_lines) {
      const LogLine* next = peek(taken);
      if (next == nullptr) break;
      auto longer = with_next(line, known, *next);
      if (!longer) break;
      known = std::move(*longer);
      ++taken;
    }
    ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(taken));
    if (known.match.state == OomMatch::State::unfinished) give_up(known.match);
    text.erase(begin);
    text += known.text;
    known.match.begin += begin;
    known.match.end += begin;
    return std::move(known.match);
  }

  /// A message that begins a text, and the text.
  struct Longer {
    std::string text;
    OomMatch match;
  };

  /// With the next line, if that is part of the message.
  static std::optional<Longer> with_next(const LogLine& line,
                                         const Longer& known,
                                         const LogLine& next) {
    const std::size_t prefix = next.number == line.number ? 0 : shared_prefix(line.text, next.text);
    for (const std::size_t dropped : {prefix, std::size_t{0}}) {
      Longer longer{.text = known.text + squeezed(std::string_view{next.text}.substr(dropped)),
                    .match = {}};
      longer.match = find_oom(longer.text);
      if (longer.match.begin == 0 && goes_on(longer.match, known.match)) return longer;
    }
    return std::nullopt;
  }

  static bool goes_on(const OomMatch& longer, const OomMatch& known) {
    using State = OomMatch::State;
    if (longer.state == State::complete || longer.state == State::unfinished) return true;
    return longer.state == State::partial &&
           longer.message.figure_count() > known.message.figure_count();
  }

  /// Nothing more comes: it is what it is up to here.
  static void give_up(OomMatch& match) {
    using State = OomMatch::State;
    const State without = match.end > match.begin ? State::mention : State::none;
    match.state = match.message.figure_count() > 0 ? State::partial : without;
  }

  void keep(const LogLine& line, const OomMatch& match, OomLog& log) {
    FoundOom found{.message = match.message,
                   .file = {},
                   .line = line.number,
                   .writer = writer_of(before_character(line.text, match.begin)),
                   .time = time_};
    const auto [at, is_new] = known_.try_emplace(identity(found), log.found.size());
    if (!is_new) {
      ++log.found[at->second].times;
    } else if (log.found.size() == OomLog::most_kept) {
      known_.erase(at);
      ++log.not_kept;
    } else {
      log.found.push_back(std::move(found));
    }
  }

  LogLines lines_;
  std::deque<LogLine> ahead_;
  std::string time_;
  std::uint64_t last_mention_ = 0;
  /// Place in the log by identity.
  std::map<std::string, std::size_t> known_;
};

}  // namespace

OomLog read_oom_log(ByteSource source) {
  OomLog log;
  log.file = source.name();
  Scan{std::move(source)}.run(log);
  for (FoundOom& found : log.found) found.file = log.file;
  return log;
}

OomLog read_oom_log(const std::string& path, const std::string& name) {
  ByteSource source{open_file_stream(path), name};
  if (!source.fill(1)) return {.file = name, .found = {}, .cut = {}};
  return read_oom_log(unwrap(std::move(source)));
}

std::optional<OomMessage> parse_oom(std::string_view text) {
  const OomMatch match = find_oom(squeezed(text));
  if (match.message.figure_count() == 0) return std::nullopt;
  return match.message;
}

}  // namespace fragcast
