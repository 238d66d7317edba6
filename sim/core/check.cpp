#include "sim/core/check.hpp"

#include <fmt/format.h>

namespace fragcast {

void fail_check(const char* expression, const char* file, int line, const std::string& why) {
  throw InvariantError{fmt::format("{}:{}: {} ({})", file, line, why, expression)};
}

}  // namespace fragcast
