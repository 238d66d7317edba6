#pragma once

#include <stdexcept>
#include <string>

namespace fragcast {

/// A broken invariant: always a bug of fragcast itself, never of its input. `main` reports it and
/// exits 70.
class InvariantError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws InvariantError naming the place. Out of line, so that a check costs one branch.
[[noreturn]] void fail_check(const char* expression,
                             const char* file,
                             int line,
                             const std::string& why);

}  // namespace fragcast

/// Checks an invariant in every build, release included. `why` is evaluated only on failure.
#define FRAGCAST_CHECK(condition, why)                               \
  do {                                                               \
    if (!(condition)) [[unlikely]] {                                 \
      ::fragcast::fail_check(#condition, __FILE__, __LINE__, (why)); \
    }                                                                \
  } while (false)
