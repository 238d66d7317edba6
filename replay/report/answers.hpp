#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "replay/engine/session.hpp"
#include "replay/report/json_text.hpp"
#include "sim/observe/event_log.hpp"

namespace fragcast {

/// Puts what a session answers into words, a line of JSON per call, as the recordings of the real
/// allocators have them, to the byte:
///
///     {"op":-1,"ok":true,"conf":"",…}                       the conditions
///     {"op":0,"kind":"malloc","ok":true,"addr":…,…}         each call: outcome and counters
///     {"op":9,"kind":"snapshot",…,"segments":[…],"trace":[…]}   with the whole state
///     {"op":10,"kind":"end",…}                              the whole state once more
///
/// Lines are valid until the next one is asked for, and have no line end.
class Answers {
 public:
  /// Listens to the session's model until destroyed; the session must live longer.
  explicit Answers(Session& session);
  ~Answers();
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;

  /// The first line. The only one of a session that was refused.
  [[nodiscard]] std::string_view conditions();

  /// Whether the event is a call, which has an answer and a number; marks and steps are none.
  [[nodiscard]] static bool is_call(const Event& event);
  /// The number of the next call, from 0.
  [[nodiscard]] std::int64_t next_op() const { return op_; }
  /// The answer to a call that the session has just carried out.
  [[nodiscard]] std::string_view call(const Event& event, const EventResult& result);
  /// Instead of `call`, where nobody wants the line.
  void pass_over(const Event& event);

  /// How the last line tells the history since the last snapshot.
  enum class History : std::uint8_t { entries, length };
  /// The last line.
  [[nodiscard]] std::string_view end(History history = History::entries);

  /// The history that the latest line told, as far as it did.
  [[nodiscard]] const EventLog& told() const { return told_; }

 private:
  void begin(std::string_view kind);
  void write_outcome(const Event& event, const EventResult& result);
  void write_counters();
  void write_statistics();
  void write_device();
  void write_segments();
  void write_log();
  /// What a snapshot leaves behind: the history begins anew, with an entry of its own.
  void close_snapshot();

  Session& session_;
  std::int64_t op_ = 0;
  EventLog log_;
  EventLog told_;
  /// How many entries of the history are no longer in the log.
  std::size_t logged_before_ = 0;
  JsonText line_;
};

}  // namespace fragcast
