#include "replay/cli/progress.hpp"

#include <fmt/format.h>

#include <utility>

namespace fragcast {

Progress::Progress(std::ostream& out, Shown shown) : out_{out} {
  if (shown == Shown::yes) ticker_ = std::thread{[this] { tick(); }};
}

Progress::~Progress() {
  if (!ticker_.joinable()) return;
  {
    const std::lock_guard lock{mutex_};
    ended_ = true;
  }
  wake_.notify_all();
  ticker_.join();
}

void Progress::now(std::string what) {
  const std::lock_guard lock{mutex_};
  what_ = std::move(what);
}

void Progress::tick() {
  using std::chrono::seconds;
  std::unique_lock lock{mutex_};
  bool shown = false;
  while (!wake_.wait_for(lock, seconds{1}, [this] { return ended_; })) {
    const auto passed =
        std::chrono::duration_cast<seconds>(std::chrono::steady_clock::now() - start_);
    out_ << fmt::format("\r\x1b[K{} ({} s)", what_, passed.count()) << std::flush;
    shown = true;
  }
  if (shown) out_ << "\r\x1b[K" << std::flush;
}

}  // namespace fragcast
