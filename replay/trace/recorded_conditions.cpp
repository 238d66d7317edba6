#include "replay/trace/recorded_conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <variant>

#include "policies/caching/settings_parser.hpp"
#include "policies/caching/sizes.hpp"
#include "replay/formats/input_error.hpp"
#include "replay/trace/recorded_names.hpp"

namespace fragcast {
namespace {

constexpr std::string_view npu_model = "npu-caching";
constexpr std::string_view cuda_model = "cuda-caching";
constexpr Bytes npu_padding = 32_B;

class Inference {
 public:
  Inference(const Recording& recording,
            const RecordedDevice& device,
            const WalkedBack& walked,
            const StatedConditions& stated)
      : recording_{recording}, device_{device}, walked_{walked}, stated_{stated} {}

  RecordedConditions run() {
    find_model();
    find_settings();
    find_padding();
    find_device_memory();
    out_.conditions.fraction = stated_.fraction ? stated_.fraction : of_simulation().fraction;
    out_.conditions.instant_events = false;
    return std::move(out_);
  }

 private:
  void note(std::string id, std::string text) {
    out_.evidence.push_back({.id = std::move(id), .text = std::move(text)});
  }
  [[nodiscard]] bool is_npu() const { return out_.model == npu_model; }
  /// What a recording of a simulated run says itself.
  [[nodiscard]] const RecordedSettings& of_simulation() const {
    static const RecordedSettings nothing;
    return recording_.settings ? *recording_.settings : nothing;
  }

  void find_model();
  void infer_model();
  void find_settings();
  [[nodiscard]] std::string infer_settings();
  void use_settings(const std::string& text);
  void find_release(const std::string& text);
  void use_recorded_fields(const RecordedSettings& recorded);
  [[nodiscard]] bool uses_ranges() const;
  [[nodiscard]] Bytes page_of_maps() const;
  void find_padding();
  void infer_padding();
  void find_device_memory();

  const Recording& recording_;
  const RecordedDevice& device_;
  const WalkedBack& walked_;
  const StatedConditions& stated_;
  RecordedConditions out_;
};

void Inference::find_model() {
  if (stated_.model) {
    out_.model = *stated_.model;
    note("model_stated", fmt::format("model {}, as stated", out_.model));
    return;
  }
  infer_model();
}

void Inference::infer_model() {
  const auto choose = [&](std::string_view model, std::string_view why) {
    out_.model = model;
    note("model_inferred", fmt::format("model {}: {}", model, why));
  };
  if (!walked_.workspaces.empty()) return choose(npu_model, "the history lists NPU workspaces");
  const std::string variable = recording_.settings ? recording_.settings->variable : "";
  if (variable.find("NPU") != std::string::npos) {
    return choose(npu_model, "the settings are stored under " + variable);
  }
  if (variable.find("CUDA") != std::string::npos) {
    return choose(cuda_model, "the settings are stored under " + variable);
  }
  const auto is_default = [&](std::uint16_t stream) { return recording_.streams[stream] == 0; };
  const bool default_stream =
      std::any_of(
          device_.entries.begin(),
          device_.entries.end(),
          [&](const RecordedEntry& e) { return has_stream(e.action) && is_default(e.stream); }) ||
      std::any_of(device_.segments.begin(), device_.segments.end(), [&](const RecordedSegment& s) {
        return is_default(s.stream);
      });
  if (default_stream) return choose(cuda_model, "stream 0 is used, which NPUs do not number so");
  if (recording_.settings) {
    return choose(cuda_model, "the file holds allocator_settings, which torch_npu does not write");
  }
  choose(npu_model, "the file holds no allocator_settings, and no stream is 0");
}

/// The stated release, or the first that takes the settings: a key may have come with a later one.
void Inference::find_release(const std::string& text) {
  const ModelEntry* model = fragcast::find_model(out_.model);
  if (model == nullptr) return;
  out_.release = stated_.release != nullptr ? stated_.release : &model->default_release();
  if (stated_.release != nullptr || read_settings(*out_.release, text)) return;
  for (const ModelRelease& release : model->releases) {
    if (!read_settings(release, text)) continue;
    out_.release = &release;
    note("release_inferred",
         fmt::format("release {}: the settings are not those of {}",
                     release.name,
                     model->default_release().name));
    return;
  }
}

void Inference::use_settings(const std::string& text) {
  out_.conditions.settings = text;
  find_release(text);
  if (out_.release == nullptr || out_.release->settings == nullptr) return;
  const SettingsResult result = parse_settings(out_.release->settings(), text);
  if (const auto* refusal = std::get_if<SettingsRefusal>(&result)) {
    throw InputError{
        {},
        fmt::format("the settings \"{}\", under which the recording is said to be made, "
                    "are refused: {}",
                    text,
                    refusal->reason)};
  }
  out_.settings = std::get<ParsedSettings>(result).settings;
}

void Inference::find_settings() {
  if (stated_.settings) {
    use_settings(*stated_.settings);
    note("settings_stated", fmt::format("settings \"{}\", as stated", *stated_.settings));
  } else if (recording_.settings) {
    use_settings(recording_.settings->text);
    use_recorded_fields(*recording_.settings);
    note("settings_recorded",
         fmt::format("settings \"{}\", from the file", recording_.settings->text));
  } else {
    use_settings(infer_settings());
  }
}

/// The fields say what was in force, also where a run-time call had changed it.
void Inference::use_recorded_fields(const RecordedSettings& recorded) {
  if (recorded.expandable_segments) {
    out_.settings.expandable_segments = *recorded.expandable_segments;
  }
  if (recorded.max_split_size) out_.settings.max_split_size = *recorded.max_split_size;
  if (recorded.garbage_collection_threshold) {
    out_.settings.garbage_collection_threshold = *recorded.garbage_collection_threshold;
  }
}

bool Inference::uses_ranges() const {
  return std::any_of(device_.segments.begin(),
                     device_.segments.end(),
                     [](const RecordedSegment& s) { return s.expandable; }) ||
         std::any_of(device_.entries.begin(), device_.entries.end(), [](const RecordedEntry& e) {
           return e.action == RecordedAction::segment_map ||
                  e.action == RecordedAction::segment_unmap;
         });
}

/// Memory is mapped in whole pages, so a page divides whatever was mapped in one go. Small ranges
/// always grow by 2 MiB.
Bytes Inference::page_of_maps() const {
  std::int64_t divisor = 0;
  for (const RecordedEntry& e : device_.entries) {
    if (e.action == RecordedAction::segment_map && e.size > sizes::small_segment) {
      divisor = std::gcd(divisor, e.size.count());
    }
  }
  const Bytes common{divisor};
  if (common % sizes::large_segment == 0_B) return sizes::large_segment;
  if (common % sizes::huge_page == 0_B) return sizes::huge_page;
  return common;
}

std::string Inference::infer_settings() {
  std::string text;
  if (uses_ranges()) {
    text = "expandable_segments:True";
    note("expandable_inferred", "expandable segments: memory was mapped, not allocated");
    const Bytes page = page_of_maps();
    if (page == sizes::huge_page && is_npu()) {
      text += ",page_size:1g";
      note("page_size_inferred", "pages of 1 GiB: whatever was mapped is a multiple of that");
    } else if (page != sizes::large_segment && page > 10_MiB && page % 1_MiB == 0_B) {
      text += fmt::format(",large_segment_size_mb:{}", page / 1_MiB);
      note("page_size_inferred",
           fmt::format("pages of {} MiB: whatever was mapped is a multiple of that", page / 1_MiB));
    }
  }
  note("settings_inferred",
       fmt::format("settings \"{}\": the file holds none, and only expandable segments show in a "
                   "history",
                   text));
  return text;
}

void Inference::find_padding() {
  if (!is_npu()) return;
  out_.padding = npu_padding;
  out_.conditions.soc = "ascend910b";
  if (stated_.soc) {
    if (*stated_.soc == Soc::ascend950) {
      out_.padding = Bytes{};
      out_.conditions.soc = "ascend950";
    }
    return;
  }
  if (const auto& soc = of_simulation().soc) {
    if (*soc == "ascend950") out_.padding = Bytes{};
    out_.conditions.soc = soc;
    note("soc_recorded", fmt::format("chip {}, from the file of a simulated run", *soc));
    return;
  }
  infer_padding();
}

/// Only blocks whose remainder was always split off tell: those of small or expandable segments.
void Inference::infer_padding() {
  std::uint64_t padded = 0;
  std::uint64_t bare = 0;
  for (const RecordedSegment& segment : device_.segments) {
    if (!segment.small && !segment.expandable) continue;
    for (const RecordedBlock& block : segment.blocks) {
      if (block.state == RecordedState::inactive) continue;
      const Bytes with = round_size(block.requested, npu_padding, out_.settings);
      const Bytes without = round_size(block.requested, Bytes{}, out_.settings);
      if (with == without) continue;
      if (block.size == with) ++padded;
      if (block.size == without) ++bare;
    }
  }
  if (bare > padded) {
    out_.padding = Bytes{};
    out_.conditions.soc = "ascend950";
    note("padding_inferred",
         fmt::format("requests are not padded, as on Ascend950: {} blocks are too small for it",
                     bare));
  } else if (padded > 0) {
    note(
        "padding_inferred",
        fmt::format("requests are padded by 32 bytes, as before Ascend950: {} blocks have room for "
                    "it that they would not have otherwise",
                    padded));
  } else {
    note(
        "padding_assumed",
        "requests are assumed to be padded by 32 bytes, as before Ascend950: no block of the final "
        "state tells");
  }
}

void Inference::find_device_memory() {
  std::optional<Bytes> memory = stated_.device_memory;
  if (memory) {
    note("device_memory_stated", fmt::format("device memory {} bytes, as stated", memory->count()));
  } else if (of_simulation().device_memory) {
    memory = of_simulation().device_memory;
    note("device_memory_recorded",
         fmt::format("device memory {} bytes, from the file of a simulated run", memory->count()));
  } else if (!walked_.failures.empty()) {
    Bytes least = Bytes::unlimited();
    for (const RecordedFailure& failure : walked_.failures) {
      least = std::min(least, failure.reserved + failure.device_free);
    }
    memory = std::max(least, walked_.peak_reserved);
    note(
        "device_memory_from_oom",
        fmt::format("device memory {} bytes: what was held and what was free when a request failed",
                    memory->count()));
  } else {
    note("device_memory_assumed",
         "device memory is taken as unlimited, with a total of 64 GiB for address ranges and "
         "messages: no request failed, and none was stated");
  }
  out_.conditions.device_memory = memory;
  if (memory) out_.device_total = *memory;
}

}  // namespace

Bytes RecordedConditions::limit() const {
  const double fraction = conditions.fraction.value_or(settings.per_process_memory_fraction);
  if (fraction >= 1.0) return Bytes::unlimited();
  return Bytes{static_cast<std::int64_t>(fraction * static_cast<double>(device_total.count()))};
}

RecordedConditions infer_conditions(const Recording& recording,
                                    const RecordedDevice& device,
                                    const WalkedBack& walked,
                                    const StatedConditions& stated) {
  return Inference{recording, device, walked, stated}.run();
}

}  // namespace fragcast
