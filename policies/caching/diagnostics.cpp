#include "policies/caching/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <variant>

#include "policies/caching/message_size.hpp"
#include "policies/caching/settings_parser.hpp"
#include "policies/caching/sizes.hpp"

namespace fragcast {
namespace {

// ---- keys ----------------------------------------------------------------------------------

/// The keys of a settings string, whether or not any allocator has them.
std::vector<std::string> keys_in(std::string_view text) {
  std::vector<std::string> keys;
  std::string word;
  int depth = 0;
  bool in_value = false;
  for (const char c : text) {
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (depth == 0 && c == ',') {
      in_value = false;
      word.clear();
    } else if (depth == 0 && c == ':' && !in_value) {
      in_value = true;
      keys.push_back(word);
    } else if (c != ' ' && c != '\t') {
      word += c;
    }
  }
  return keys;
}

bool knows(const ModelRelease& release, std::string_view name) {
  if (release.settings == nullptr) return false;
  const auto& keys = release.settings().keys;
  return std::any_of(
      keys.begin(), keys.end(), [name](const SettingKey& key) { return key.name == name; });
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

std::vector<std::string> unknown_keys(const ReadSettings& read) {
  std::vector<std::string> unknown;
  for (std::string& key : keys_in(read.of.text)) {
    if (!knows(*read.of.release, key)) unknown.push_back(std::move(key));
  }
  return unknown;
}

/// Where a key that this release does not have is known.
std::string home_of(const ReadSettings& read, const std::string& key) {
  std::vector<std::string> releases;
  for (const ModelRelease& release : read.of.model->releases) {
    if (knows(release, key)) releases.push_back(fmt::format("--release {}", release.name));
  }
  if (!releases.empty()) return fmt::format("{} is known to {}", key, joined(releases));
  for (const ModelEntry& model : all_models()) {
    const bool is_known = std::any_of(model.releases.begin(),
                                      model.releases.end(),
                                      [&](const ModelRelease& r) { return knows(r, key); });
    if (is_known) return fmt::format("{} is a key of {} alone: leave it out", key, model.variable);
  }
  return fmt::format("no allocator has a key {}: leave it out (fragcast models lists the keys)",
                     key);
}

// ---- conditions ------------------------------------------------------------------------------

bool limits_splits(const AllocatorSettings& settings) {
  return settings.max_split_size != Bytes::unlimited();
}
bool collects_garbage(const AllocatorSettings& settings) {
  return settings.garbage_collection_threshold > 0.0;
}

/// Whether the settings are accepted and stay as they are, and `condition` holds of them.
template <bool (*Condition)(const SettingsCase&, const AllocatorSettings&)>
bool of_accepted(const ReadSettings& read) {
  return read.settings && !read.refused_together && !read.of.changes_at_run_time &&
         Condition(read.of, *read.settings);
}

/// The largest segment that comes to be asked of the device.
Bytes largest_segment(const SettingsCase& of, const AllocatorSettings& settings) {
  const Bytes rounded = round_size(of.largest_request, of.padding, settings);
  // Any request above 1 MiB may be among them, and then a segment of this size.
  const Bytes usual = pool_kind(rounded) == PoolKind::large ? settings.large_segment_size : 0_B;
  return std::max({usual, segment_size(rounded, settings), of.largest_initial_segment});
}

bool max_split_is_too_large(const SettingsCase& of, const AllocatorSettings& settings) {
  // Blocks of expandable ranges grow beyond any request.
  return limits_splits(settings) && !settings.expandable_segments &&
         settings.max_split_size > largest_segment(of, settings);
}

bool rounding_is_unused(const SettingsCase&, const AllocatorSettings& settings) {
  return settings.max_non_split_rounding != settings.large_segment_size && !limits_splits(settings);
}

bool collects_without_limit(const SettingsCase& of, const AllocatorSettings& settings) {
  return collects_garbage(settings) && !of.limit;
}

bool collects_in_ranges(const SettingsCase& of, const AllocatorSettings& settings) {
  return collects_garbage(settings) && settings.expandable_segments &&
         of.largest_initial_segment == 0_B;
}

/// The memory that there is, where that is known.
std::optional<Bytes> memory_of(const SettingsCase& of) {
  if (!of.device_is_limited) return of.limit;
  return of.limit ? std::min(*of.limit, of.device_total) : of.device_total;
}

Bytes gigabyte_segment(const SettingsCase& of, const AllocatorSettings& settings) {
  return segment_size(round_size(of.largest_request, of.padding, settings), settings);
}

bool gigabyte_pages_fail(const SettingsCase& of, const AllocatorSettings& settings) {
  const std::optional<Bytes> memory = memory_of(of);
  const Bytes segment = gigabyte_segment(of, settings);
  return settings.gigabyte_pages && memory && segment >= 1_GiB && segment > *memory;
}

/// The largest power of two asked for whose block, padded, is rounded up to the next division.
std::optional<Bytes> inflated_power(const SettingsCase& of, const AllocatorSettings& settings) {
  for (int k = 62; k >= 0; --k) {
    if ((of.powers_of_two >> k & 1U) == 0) continue;
    const Bytes size{std::int64_t{1} << k};
    const Bytes plain = round_up(size + of.padding, sizes::min_block);
    if (round_size(size, of.padding, settings) > plain) return size;
  }
  return std::nullopt;
}

bool powers_are_inflated(const SettingsCase& of, const AllocatorSettings& settings) {
  return of.padding > 0_B && inflated_power(of, settings).has_value();
}

bool has_own_segment_size(const AllocatorSettings& settings) {
  return settings.large_segment_size != sizes::large_segment;
}

bool segment_size_is_ignored(const SettingsCase&, const AllocatorSettings& settings) {
  return settings.segment_size && has_own_segment_size(settings);
}

bool segment_size_is_deprecated(const SettingsCase&, const AllocatorSettings& settings) {
  return settings.segment_size && !has_own_segment_size(settings);
}

bool gigabyte_pages_win(const SettingsCase&, const AllocatorSettings& settings) {
  return settings.gigabyte_pages && (settings.segment_size || has_own_segment_size(settings));
}

bool limit_comes_before_throw(const SettingsCase& of, const AllocatorSettings& settings) {
  const Bytes allowed{static_cast<std::int64_t>(settings.per_process_memory_fraction *
                                                static_cast<double>(of.device_total.count()))};
  return settings.throw_on_oom && of.limit && *of.limit <= allowed;
}

// ---- sentences -------------------------------------------------------------------------------

bool has_unknown_keys(const ReadSettings& read) { return !unknown_keys(read).empty(); }

std::string say_unknown_keys(const ReadSettings& read) {
  std::string text;
  for (const std::string& key : unknown_keys(read)) {
    text += fmt::format("{}{}", text.empty() ? "" : "; ", home_of(read, key));
  }
  return text;
}

bool is_refused_pair(const ReadSettings& read) { return read.refused_together; }

std::string say_refused_pair(const ReadSettings& read) {
  std::vector<std::string> others;
  if (limits_splits(*read.settings)) others.emplace_back("max_split_size_mb");
  if (collects_garbage(*read.settings)) others.emplace_back("garbage_collection_threshold");
  return fmt::format(
      "leave out {}, which expandable segments hardly need, or set "
      "expandable_segments:False to keep {}",
      joined(others),
      others.size() == 1 ? "it" : "them");
}

std::string say_max_split(const ReadSettings& read) {
  return fmt::format(
      "max_split_size_mb does nothing: with {} as the largest request, no block is as large as {}",
      message_size(read.of.largest_request),
      message_size(read.settings->max_split_size));
}

std::string say_rounding(const ReadSettings&) {
  return "max_non_split_rounding_mb does nothing without max_split_size_mb";
}

std::string say_no_limit(const ReadSettings& read) {
  const bool has_key = knows(*read.of.release, "per_process_memory_fraction");
  return fmt::format(
      "garbage_collection_threshold does nothing without a limit below the device's memory: set "
      "one with set_per_process_memory_fraction(){} (--fraction)",
      has_key ? " or per_process_memory_fraction" : "");
}

std::string say_ranges(const ReadSettings&) {
  return "garbage_collection_threshold does nothing beside expandable_segments: it releases whole "
         "segments, and there are none";
}

std::string say_gigabyte_pages(const ReadSettings& read) {
  return fmt::format(
      "page_size:1g fails outright: it takes memory in units of 1 GiB, {} for the largest request, "
      "and there are {}: leave it out",
      message_size(gigabyte_segment(read.of, *read.settings)),
      message_size(*memory_of(read.of)));
}

std::string say_inflated(const ReadSettings& read) {
  const Bytes size = *inflated_power(read.of, *read.settings);
  return fmt::format(
      "roundup_power2_divisions inflates powers of two: with {} bytes of padding, a request for {} "
      "lies just above one and gets {}: leave it out, or ask for a little less",
      read.of.padding.count(),
      message_size(size),
      message_size(round_size(size, read.of.padding, *read.settings)));
}

std::string say_segment_size_ignored(const ReadSettings&) {
  return "segment_size_mb is ignored: large_segment_size_mb wins over it, so leave it out";
}

std::string say_segment_size_deprecated(const ReadSettings& read) {
  return fmt::format(
      "segment_size_mb is deprecated{}: use large_segment_size_mb, which also holds "
      "without expandable_segments",
      read.settings->expandable_segments ? "" : " and does nothing here");
}

std::string say_gigabyte_pages_win(const ReadSettings&) {
  return "page_size:1g wins over large_segment_size_mb and segment_size_mb: leave them out";
}

std::string say_throw(const ReadSettings& read) {
  return fmt::format(
      "throw_on_npumalloc_oom does nothing below a memory fraction of 1: the limit of {} is looked "
      "at first, and what exceeds it is tried again after a flush",
      message_size(*read.of.limit));
}

constexpr auto diagnostics = std::to_array<Diagnostic>({
    {"unknown_key", has_unknown_keys, say_unknown_keys},
    {"refused_pair", is_refused_pair, say_refused_pair},
    {"max_split_above_largest", of_accepted<max_split_is_too_large>, say_max_split},
    {"non_split_rounding_unused", of_accepted<rounding_is_unused>, say_rounding},
    {"garbage_collection_without_limit", of_accepted<collects_without_limit>, say_no_limit},
    {"garbage_collection_in_ranges", of_accepted<collects_in_ranges>, say_ranges},
    {"gigabyte_pages_fail", of_accepted<gigabyte_pages_fail>, say_gigabyte_pages},
    {"powers_of_two_inflated", of_accepted<powers_are_inflated>, say_inflated},
    {"segment_size_ignored", of_accepted<segment_size_is_ignored>, say_segment_size_ignored},
    {"segment_size_deprecated",
     of_accepted<segment_size_is_deprecated>,
     say_segment_size_deprecated},
    {"gigabyte_pages_win", of_accepted<gigabyte_pages_win>, say_gigabyte_pages_win},
    {"throw_on_oom_inert", of_accepted<limit_comes_before_throw>, say_throw},
});

std::optional<SettingsRefusal> all_go_together(ParsedSettings&) { return std::nullopt; }

ReadSettings read(const SettingsCase& of) {
  ReadSettings result{.of = of, .settings = read_settings(*of.release, of.text)};
  if (result.settings) return result;
  SettingsGrammar lenient = of.release->settings();
  lenient.check_together = all_go_together;
  const SettingsResult taken = parse_settings(lenient, of.text);
  if (const auto* parsed = std::get_if<ParsedSettings>(&taken)) {
    result.settings = parsed->settings;
    result.refused_together = true;
  }
  return result;
}

}  // namespace

std::span<const Diagnostic> all_diagnostics() { return diagnostics; }

std::vector<SettingsRemark> diagnose(const SettingsCase& settings) {
  std::vector<SettingsRemark> remarks;
  if (settings.release->settings == nullptr) return remarks;
  const ReadSettings known = read(settings);
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!diagnostic.holds(known)) continue;
    remarks.push_back({.id = diagnostic.id, .text = diagnostic.sentence(known)});
  }
  return remarks;
}

}  // namespace fragcast
