#include "replay/search/fit_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "replay/trace/quantity.hpp"

namespace fragcast {
namespace {

std::string exactly(Bytes size) {
  return size % 1_MiB == Bytes{0} ? fmt::format("{} MiB", grouped(size / 1_MiB))
                                  : exact_bytes(size);
}

/// The row that fits on least; null if none fits at all.
const FitRow* best_of(const FitStudy& study, std::optional<Bytes> FitRow::*size) {
  const FitRow* best = nullptr;
  for (const FitRow& row : study.rows) {
    if (row.*size && (best == nullptr || *(row.*size) < *(best->*size))) best = &row;
  }
  return best;
}

void say_the_least(FitStudy& study) {
  const FitRow* best = best_of(study, &FitRow::least);
  if (best == nullptr) {
    study.verdict.emplace_back("No size of device memory was found at which the run completes.");
    return;
  }
  const FitPoint& point = *best->at(best->least);
  std::string sentence = fmt::format(
      "The least device memory that works is {}, under {}", exactly(*best->least), best->name);
  if (point.retries > 0) {
    sentence += fmt::format(
        ", with {} retried request{}", grouped(point.retries), point.retries == 1 ? "" : "s");
    const FitRow* calm = best_of(study, &FitRow::least_without_retries);
    if (calm != nullptr) {
      sentence += fmt::format("; without retries it is {}, under {}",
                              exactly(*calm->least_without_retries),
                              calm->name);
    }
  }
  study.verdict.push_back(sentence + ".");
}

void say_what_no_setting_can_do(FitStudy& study) {
  const FitRow* best = best_of(study, &FitRow::least);
  if (best == nullptr) return;
  study.verdict.push_back(fmt::format(
      "No allocator and no setting could do with less than {}: so much is live at one time{}.",
      exactly(best->bound),
      study.others > Bytes{0}
          ? fmt::format(", beside {} that others hold", human_size(study.others))
          : ""));
}

void say_where_more_is_not_better(FitStudy& study) {
  for (const FitRow& row : study.rows) {
    if (row.holes.empty()) continue;
    study.verdict.push_back(
        fmt::format("More is not always better under {}: it completes at {}, and fails again at {}"
                    "{}{}.",
                    row.name,
                    exactly(*row.least),
                    exactly(row.holes.front().first),
                    row.holes.front().last > row.holes.front().first
                        ? fmt::format(" to {}", exactly(row.holes.front().last))
                        : "",
                    row.holes.size() > 1 ? " and elsewhere" : ""));
  }
}

/// Devices of the right maker, by whether they have enough free when a process starts.
void say_which_devices_have_it(FitStudy& study) {
  const FitRow* best = best_of(study, &FitRow::least);
  const KnownDevice* priced = find_known_device(study.pricing.profile);
  // What others hold of one device they need not hold of another.
  if (best == nullptr || priced == nullptr || study.others > Bytes{0}) return;
  const Bytes needed = *best->least;
  const KnownDevice* smallest = nullptr;
  for (const KnownDevice& device : known_devices()) {
    if (device.runtime != priced->runtime || !device.free_at_start) continue;
    if (*device.free_at_start < needed) continue;
    if (smallest == nullptr || *device.free_at_start < *smallest->free_at_start) smallest = &device;
  }
  study.verdict.push_back(
      smallest == nullptr
          ? std::string{"No known device has so much free when a process starts."}
          : fmt::format("The smallest known device with so much free when a process starts: {} "
                        "({:.2f} GiB; `fragcast profiles`).",
                        smallest->name,
                        static_cast<double>(smallest->free_at_start->count()) / (1 << 30)));
}

}  // namespace

void say_what_fits(FitStudy& study) {
  say_the_least(study);
  say_what_no_setting_can_do(study);
  say_where_more_is_not_better(study);
  say_which_devices_have_it(study);
}

}  // namespace fragcast
