#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace fragcast {

/// `work(0) … work(count − 1)` in that order, made on up to `threads` threads (0: one per core).
/// Which thread does what changes nothing: if calls throw, the exception of the lowest index is
/// thrown once all threads are done.
template <class Work>
[[nodiscard]] auto parallel_map(std::size_t count, unsigned threads, Work work) {
  using Result = std::invoke_result_t<Work&, std::size_t>;
  std::vector<std::optional<Result>> results(count);
  std::vector<std::exception_ptr> failures(count);
  std::atomic<std::size_t> next{0};

  const auto take_turns = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        results[i].emplace(work(i));
      } catch (...) {
        failures[i] = std::current_exception();
      }
    }
  };
  {
    const std::size_t wanted =
        threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min(wanted, count); ++i) helpers.emplace_back(take_turns);
    take_turns();
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  std::vector<Result> values;
  values.reserve(count);
  for (std::optional<Result>& result : results) values.push_back(*std::move(result));
  return values;
}

}  // namespace fragcast
