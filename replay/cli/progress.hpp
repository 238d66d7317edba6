#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <ostream>
#include <string>
#include <thread>

namespace fragcast {

/// Tells a user at a terminal what takes so long: from the second second on, one line that is
/// rewritten and in the end removed. Silent otherwise.
///
///     Progress progress{console.err, is_terminal};
///     progress.now("reading snapshot.pickle");
class Progress {
 public:
  enum class Shown : std::uint8_t { no, yes };

  /// `out` must outlive this.
  Progress(std::ostream& out, Shown shown);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// What is being done from now on.
  void now(std::string what);

 private:
  void tick();

  std::ostream& out_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string what_;
  bool ended_ = false;
  std::thread ticker_;
};

}  // namespace fragcast
