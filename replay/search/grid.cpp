#include "replay/search/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <utility>

#include "policies/caching/settings_parser.hpp"
#include "policies/caching/sizes.hpp"
#include "sim/core/check.hpp"

namespace fragcast {
namespace {

/// The share of the device that a fraction leaves to the allocator where garbage collection needs
/// one and none is in force.
constexpr double own_fraction = 0.95;

Bytes mebibytes(double number) { return std::llround(number) * 1_MiB; }
double in_mebibytes(Bytes size) { return static_cast<double>(size / 1_MiB); }

bool limits_splits(const AllocatorSettings& settings) {
  return settings.max_split_size != Bytes::unlimited();
}
bool collects_garbage(const AllocatorSettings& settings) {
  return settings.garbage_collection_threshold > 0.0;
}
bool always(const AllocatorSettings&) { return true; }

void set_split_size(AllocatorSettings& settings, double value) {
  settings.max_split_size = mebibytes(value);
}

/// Unsplittable blocks may exceed a request by a segment's size unless a key says otherwise.
void set_segment_size(AllocatorSettings& settings, double value) {
  const bool follows = settings.max_non_split_rounding == settings.large_segment_size;
  settings.large_segment_size = mebibytes(value);
  if (follows) settings.max_non_split_rounding = settings.large_segment_size;
}

double page_of(const AllocatorSettings& settings) {
  return in_mebibytes(settings.segment_size.value_or(settings.large_segment_size));
}
void set_page(AllocatorSettings& settings, double value) {
  settings.segment_size = mebibytes(value);
  if (settings.segment_size == settings.large_segment_size) settings.segment_size.reset();
}

void set_divisions(AllocatorSettings& settings, double value) {
  settings.roundup_power2_divisions.fill(static_cast<std::uint32_t>(value));
}

std::vector<double> sorted(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

AllocatorSettings with_ranges(AllocatorSettings settings) {
  settings.expandable_segments = true;
  return settings;
}
AllocatorSettings with_split(AllocatorSettings settings, double size) {
  set_split_size(settings, size);
  return settings;
}
AllocatorSettings with_threshold(AllocatorSettings settings, double threshold) {
  settings.garbage_collection_threshold = threshold;
  return settings;
}

/// The `key:value` of a settings string whose keys bear on host memory only.
std::string host_keys_of(const SettingsGrammar& grammar, std::string_view text) {
  std::string kept;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view entry = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::string_view name = entry.substr(0, std::min(entry.find(':'), entry.size()));
    for (const SettingKey& key : grammar.keys) {
      if (key.name != name || key.write != nullptr) continue;
      kept += fmt::format("{}{}", kept.empty() ? "" : ",", entry);
    }
  }
  return kept;
}

std::string joined_text(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + "," + b;
}

/// The step along an axis: halved each round.
std::size_t stride_of(const GridAxis& axis, unsigned round) {
  return std::max<std::size_t>(1, axis.values.size() >> std::min(3 + round, 60U));
}

/// The values one step below and above.
std::vector<double> neighbours(const GridAxis& axis, double value, std::size_t stride) {
  const auto at = std::lower_bound(axis.values.begin(), axis.values.end(), value);
  const auto index = static_cast<std::size_t>(at - axis.values.begin());
  const bool is_one = at != axis.values.end() && *at == value;
  const std::size_t above = is_one ? index + stride : index + stride - 1;
  std::vector<double> found;
  if (index >= stride) found.push_back(axis.values[index - stride]);
  if (above < axis.values.size()) found.push_back(axis.values[above]);
  return found;
}

}  // namespace

Grid::Grid(GridBasis basis) : basis_{std::move(basis)} {
  FRAGCAST_CHECK(basis_.release != nullptr && basis_.release->settings != nullptr,
                 "a grid of an allocator without settings");
  host_keys_ = host_keys_of(basis_.release->settings(), basis_.recorded);
  base_ = base_settings();
  if (basis_.limit) {
    limited_ = base_;
    limit_ = *basis_.limit;
  } else if (basis_.device_memory && knows("per_process_memory_fraction")) {
    limited_ = base_;
    limited_->per_process_memory_fraction = own_fraction;
    const auto total = static_cast<double>(basis_.device_memory->count());
    limit_ = Bytes{static_cast<std::int64_t>(own_fraction * total)};
  }
  add_axes();
}

bool Grid::knows(std::string_view key) const {
  const auto& keys = basis_.release->settings().keys;
  return std::any_of(keys.begin(), keys.end(), [key](const auto& k) { return k.name == key; });
}

AllocatorSettings Grid::base_settings() const {
  const AllocatorSettings& defaults = basis_.release->settings().defaults;
  AllocatorSettings base = read_settings(*basis_.release, basis_.recorded).value_or(defaults);
  base.expandable_segments = defaults.expandable_segments;
  base.max_split_size = defaults.max_split_size;
  base.garbage_collection_threshold = defaults.garbage_collection_threshold;
  base.max_non_split_rounding = defaults.max_non_split_rounding;
  base.large_segment_size = defaults.large_segment_size;
  base.segment_size = defaults.segment_size;
  if (basis_.keys == SettingKeys::all) {
    base.gigabyte_pages = defaults.gigabyte_pages;
    base.base_address_alignment = defaults.base_address_alignment;
    base.roundup_power2_divisions = defaults.roundup_power2_divisions;
    base.multi_stream_lazy_reclaim = defaults.multi_stream_lazy_reclaim;
  }
  return base;
}

std::optional<std::string> Grid::text_of(const AllocatorSettings& settings) const {
  const std::string text =
      joined_text(canonical_text(basis_.release->settings(), settings), host_keys_);
  if (read_settings(*basis_.release, text) != settings) return std::nullopt;
  return text;
}

std::vector<double> Grid::split_sizes() const {
  std::vector<double> sizes;
  const std::vector<SizeClass>& large = basis_.sizes.large;
  // Smaller limits are refused, above the largest block none is kept whole.
  for (const SizeClass& size_class : large) {
    if (size_class.block >= sizes::large_segment) sizes.push_back(in_mebibytes(size_class.block));
  }
  for (double round = 32; !large.empty() && mebibytes(round) <= large.back().block; round *= 2) {
    sizes.push_back(round);
  }
  return sorted(std::move(sizes));
}

std::vector<double> Grid::coarse_split_sizes() const {
  constexpr std::size_t gaps = 4;
  std::vector<double> sizes;
  const auto add = [&](Bytes size) {
    if (size >= sizes::large_segment) sizes.push_back(in_mebibytes(size));
  };
  for (const Bytes size : sizes_above_gaps(basis_.sizes, gaps)) add(size);
  for (const Bytes size : byte_quantiles(basis_.sizes, {0.1, 0.25, 0.5, 0.75, 0.9})) add(size);
  for (const double round : {32.0, 64.0, 128.0, 256.0, 512.0}) {
    const auto& large = basis_.sizes.large;
    if (!large.empty() && mebibytes(round) <= large.back().block) sizes.push_back(round);
  }
  return sorted(std::move(sizes));
}

std::vector<double> Grid::coarse_segment_sizes() const {
  constexpr Bytes largest = 512_MiB;
  std::vector<double> sizes{12, 32, 64, 128, 256};
  const auto add = [&](Bytes size) {
    const Bytes rounded = round_up(size, sizes::segment_rounding);
    if (rounded > sizes::own_segment && rounded <= largest) sizes.push_back(in_mebibytes(rounded));
  };
  // One segment for all that shares segments; pages as large as the usual requests.
  add(basis_.sizes.shared_live_peak);
  for (const Bytes size : byte_quantiles(basis_.sizes, {0.25, 0.5, 0.75})) add(size);
  return sorted(std::move(sizes));
}

std::vector<double> Grid::coarse_thresholds() const {
  if (!limited_) return {};
  std::vector<double> thresholds{0.6, 0.8, 0.9};
  // Between what is live at once and what is reserved now: below, it collects all the time; above,
  // never.
  const auto live = static_cast<double>(basis_.sizes.live_peak.count());
  const auto reserved = static_cast<double>(basis_.reserved_peak.count());
  for (const double share : {0.0, 0.25, 0.5, 0.75}) {
    const double amount = live + share * (reserved - live);
    const double threshold = std::ceil(100.0 * amount / static_cast<double>(limit_.count())) / 100;
    if (threshold > 0.0 && threshold < 1.0) thresholds.push_back(threshold);
  }
  return sorted(std::move(thresholds));
}

void Grid::add_axes() {
  axes_.push_back({.values = split_sizes(),
                   .get = [](const AllocatorSettings& s) { return in_mebibytes(s.max_split_size); },
                   .set = set_split_size,
                   .applies = limits_splits});
  std::vector<double> segments{11, 12, 14, 16,  18,  20,  24,  28,  32,  40,  48,  56,
                               64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 512};
  const std::vector<double> derived = coarse_segment_sizes();
  segments.insert(segments.end(), derived.begin(), derived.end());
  if (knows("large_segment_size_mb")) {
    axes_.push_back(
        {.values = sorted(std::move(segments)),
         .get = [](const AllocatorSettings& s) { return in_mebibytes(s.large_segment_size); },
         .set = set_segment_size,
         .applies = always});
  } else if (knows("segment_size_mb")) {
    axes_.push_back({.values = sorted(std::move(segments)),
                     .get = page_of,
                     .set = set_page,
                     .applies = [](const AllocatorSettings& s) { return s.expandable_segments; }});
  }
  axes_.push_back(
      {.values = {21, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024},
       .get = [](const AllocatorSettings& s) { return in_mebibytes(s.max_non_split_rounding); },
       .set = [](AllocatorSettings& s, double v) { s.max_non_split_rounding = mebibytes(v); },
       .applies = limits_splits});
  std::vector<double> thresholds = coarse_thresholds();
  for (int percent = 1; percent < 100; ++percent) thresholds.push_back(percent / 100.0);
  axes_.push_back(
      {.values = sorted(std::move(thresholds)),
       .get = [](const AllocatorSettings& s) { return s.garbage_collection_threshold; },
       .set = [](AllocatorSettings& s, double v) { s.garbage_collection_threshold = v; },
       .applies = collects_garbage});
  if (basis_.keys == SettingKeys::all) {
    axes_.push_back(
        {.values = {0, 2, 4, 8, 16, 32},
         .get = [](const AllocatorSettings& s) { return double(s.roundup_power2_divisions[0]); },
         .set = set_divisions,
         .applies = always});
  }
}

std::vector<AllocatorSettings> Grid::rarely_used() const {
  std::vector<AllocatorSettings> points;
  for (const AllocatorSettings& base : {base_, with_ranges(base_)}) {
    for (const double divisions : {2.0, 4.0, 8.0, 16.0}) {
      points.push_back(base);
      set_divisions(points.back(), divisions);
    }
    points.push_back(base);
    points.back().gigabyte_pages = true;
    points.push_back(base);
    points.back().multi_stream_lazy_reclaim = true;
    // Without ranges nothing is aligned.
    for (const Bytes alignment : {0_KiB, 4_KiB}) {
      if (!base.expandable_segments) continue;
      points.push_back(base);
      points.back().base_address_alignment = alignment;
    }
  }
  return points;
}

std::vector<std::string> Grid::coarse() const {
  const std::vector<double> splits = coarse_split_sizes();
  const std::vector<double> thresholds = coarse_thresholds();
  std::vector<AllocatorSettings> points{base_, with_ranges(base_)};
  for (const double split : splits) points.push_back(with_split(base_, split));
  for (const double size : coarse_segment_sizes()) {
    for (AllocatorSettings base : {base_, with_ranges(base_)}) {
      if (knows("large_segment_size_mb")) {
        set_segment_size(base, size);
      } else if (base.expandable_segments) {
        set_page(base, size);
      }
      points.push_back(base);
    }
  }
  for (const double threshold : thresholds) points.push_back(with_threshold(*limited_, threshold));
  for (std::size_t i = 0; i < thresholds.size(); i += 2) {
    for (const double split : splits) {
      points.push_back(with_split(with_threshold(*limited_, thresholds[i]), split));
    }
  }
  // Refused by some allocators. Garbage collection beside ranges finds nothing to collect.
  for (const double split : splits) points.push_back(with_ranges(with_split(base_, split)));
  if (basis_.keys == SettingKeys::all) {
    const std::vector<AllocatorSettings> more = rarely_used();
    points.insert(points.end(), more.begin(), more.end());
  }
  std::vector<std::string> texts;
  std::set<std::string> seen;
  for (const AllocatorSettings& point : points) {
    const std::optional<std::string> text = text_of(point);
    if (text && seen.insert(*text).second) texts.push_back(*text);
  }
  return texts;
}

std::vector<std::string> Grid::around(const std::string& settings, unsigned round) const {
  const auto centre = read_settings(*basis_.release, settings);
  std::vector<std::string> texts;
  if (!centre) return texts;
  for (const GridAxis& axis : axes_) {
    if (!axis.applies(*centre)) continue;
    for (const double value : neighbours(axis, axis.get(*centre), stride_of(axis, round))) {
      AllocatorSettings point = *centre;
      axis.set(point, value);
      if (const std::optional<std::string> text = text_of(point)) texts.push_back(*text);
    }
  }
  return texts;
}

std::optional<std::string> Grid::with(std::string_view text) const {
  const std::string base = canonical_text(basis_.release->settings(), base_);
  return spelt(*basis_.release, joined_text(joined_text(base, std::string{text}), host_keys_));
}

std::optional<std::string> spelt(const ModelRelease& release, std::string_view text) {
  const auto settings = read_settings(release, text);
  if (!settings) return std::nullopt;
  const SettingsGrammar& grammar = release.settings();
  return joined_text(canonical_text(grammar, *settings), host_keys_of(grammar, text));
}

std::vector<std::string_view> popular_settings() {
  return {"expandable_segments:True",
          "max_split_size_mb:128",
          "max_split_size_mb:256",
          "max_split_size_mb:512",
          "garbage_collection_threshold:0.6",
          "garbage_collection_threshold:0.8",
          "garbage_collection_threshold:0.6,max_split_size_mb:128",
          "roundup_power2_divisions:4",
          "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]",
          "page_size:1g"};
}

}  // namespace fragcast
