#pragma once

/// The one place that knows which Catch2 is installed: v3 in newer distributions, v2 in Debian 12.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
namespace fragcast {
using Catch::Approx;
}  // namespace fragcast
#else
#include <catch2/catch.hpp>
#endif
