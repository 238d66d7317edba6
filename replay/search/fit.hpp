#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/compare/compare.hpp"
#include "replay/compare/cost.hpp"
#include "replay/compare/pricing.hpp"
#include "replay/load/subject.hpp"

namespace fragcast {

/// What device memory is charged and searched in.
inline constexpr Bytes fit_granule = 2_MiB;

/// A replay on a device of one size.
struct FitPoint {
  Bytes device_memory;
  /// Every request was served, those too that failed in the recording.
  bool completes = false;
  /// Requests that were served only after the allocator had flushed its cache. Of a point that does
  /// not complete, up to where it was given up.
  std::int64_t retries = 0;
  std::int64_t syncs = 0;
  std::int64_t device_allocs = 0;
  std::int64_t device_frees = 0;
  Bytes peak_reserved;
  CostEstimate cost;

  [[nodiscard]] bool completes_without_retries() const { return completes && retries == 0; }
};

/// Neighbouring sizes, among those tried, that all fail although a smaller one completes.
struct FitHole {
  Bytes first;
  Bytes last;
};

/// What fits under one setting.
struct FitRow {
  std::string name;
  /// Further names of the same settings.
  std::vector<std::string> also;
  std::string settings;
  Start start = Start::cold;
  /// Why there is nothing to search: the setting is refused; else empty.
  std::string refusal;
  /// What is live and what others hold: no size below it can complete, under any setting.
  Bytes bound;
  /// Reserved at the peak of a device that never runs out.
  Bytes peak_reserved;
  /// The least size, of those tried, at which the run completes, with retries or without. Absent:
  /// not even the largest that was tried.
  std::optional<Bytes> least;
  std::optional<Bytes> least_without_retries;
  /// Above `least`.
  std::vector<FitHole> holes;
  /// Every size from the bound to what is plentiful was tried.
  bool exhaustive = false;
  /// By size.
  std::vector<FitPoint> tried;

  [[nodiscard]] const FitPoint* at(std::optional<Bytes> size) const;
};

/// What there is to say about the device memory that a trace needs.
struct FitStudy {
  const Subject* subject = nullptr;
  Bytes others;
  std::optional<double> fraction;
  std::vector<FitRow> rows;
  Pricing pricing;
  std::vector<std::string> verdict;
};

/// Searches, for the recorded, the default and the given settings, the least device memory at which
/// the trace completes. That more memory is always better is not taken for granted: the search
/// brackets and bisects, then tries every size within 32 MiB of what it found, and `points` more
/// from the bound to what is plentiful; where one of them completes at a lower size, the search
/// goes on there. A bracket of up to 256 sizes is tried from end to end. The result is the same for
/// any number of threads.
[[nodiscard]] FitStudy study_fit(const Subject& subject,
                                 const CompareOptions& options,
                                 std::size_t points);

}  // namespace fragcast
