#include "replay/trace/recorded_conditions.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "replay/formats/input_error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/recording_text.hpp"

using namespace fragcast;

namespace {

RecordedConditions infer(const Recording& recording, const StatedConditions& stated = {}) {
  const RecordedDevice& device = recording.devices.front();
  const WalkedBack walked = walk_back(recording, device, name_streams_and_pools(recording, device));
  return infer_conditions(recording, device, walked, stated);
}

RecordedConditions infer(std::string_view text, const StatedConditions& stated = {}) {
  return infer(recording_from_text(text), stated);
}

Recording with_settings(std::string_view text, std::string variable, std::string settings) {
  Recording recording = recording_from_text(text);
  recording.settings.emplace();
  recording.settings->variable = std::move(variable);
  recording.settings->text = std::move(settings);
  return recording;
}

bool rests_on(const RecordedConditions& conditions, std::string_view id) {
  return std::any_of(conditions.evidence.begin(), conditions.evidence.end(), [&](const Note& note) {
    return note.id == id;
  });
}

constexpr std::string_view npu_history = "alloc 2MiB 100\nsnapshot";
constexpr std::string_view cuda_history = "alloc 2MiB 100 stream=0\nsnapshot";

/// A history whose final state has one block of `size` bytes that asked for 1,024.
std::string final_block(const std::string& segment, const std::string& size) {
  return "snapshot\nsnapshot\nsegment 20MiB 2MiB " + segment + "\nblock 20MiB " + size +
         " 1024 allocated";
}

}  // namespace

TEST_CASE("the model is named by the settings, by workspaces, or by the streams") {
  CHECK(infer(npu_history).model == "npu-caching");
  CHECK(infer(cuda_history).model == "cuda-caching");
  CHECK(infer(with_settings(cuda_history, "PYTORCH_NPU_ALLOC_CONF", "")).model == "npu-caching");
  CHECK(infer(with_settings(npu_history, "PYTORCH_CUDA_ALLOC_CONF", "")).model == "cuda-caching");
  CHECK(infer(with_settings(npu_history, "PYTORCH_ALLOC_CONF", "")).model == "cuda-caching");
  CHECK(infer("workspace_snapshot 2MiB 2MiB stream=0\nsegment_alloc 2MiB 2MiB stream=0\n"
              "alloc 2MiB 2MiB stream=0\nsnapshot\nsnapshot")
            .model == "npu-caching");
  CHECK(infer(cuda_history, {.model = "npu-caching"}).model == "npu-caching");
}

TEST_CASE("a snapshot entry, which is on no stream, does not make a recording CUDA's") {
  Recording recording = recording_from_text(npu_history);
  recording.streams.push_back(0);
  recording.devices.front().entries[1].stream = 1;
  CHECK(infer(recording).model == "npu-caching");
}

TEST_CASE("settings are stated, recorded or inferred, in this order") {
  const RecordedConditions stated = infer(with_settings(npu_history, "PYTORCH_NPU_ALLOC_CONF", ""),
                                          {.settings = "max_split_size_mb:64"});
  CHECK(stated.settings.max_split_size == 64_MiB);
  CHECK(stated.conditions.settings == "max_split_size_mb:64");
  CHECK(rests_on(stated, "settings_stated"));

  const RecordedConditions recorded =
      infer(with_settings(npu_history, "PYTORCH_NPU_ALLOC_CONF", "expandable_segments:True"));
  CHECK(recorded.settings.expandable_segments);
  CHECK(rests_on(recorded, "settings_recorded"));

  const RecordedConditions inferred = infer(npu_history);
  CHECK(inferred.settings == AllocatorSettings{});
  CHECK(inferred.conditions.settings == "");
  CHECK(rests_on(inferred, "settings_inferred"));
}

TEST_CASE("stated settings that the allocator refuses are an error in one sentence") {
  CHECK_THROWS_WITH(infer(npu_history, {.settings = "no_such_key:1"}),
                    Catch::Contains("are refused"));
}

TEST_CASE("maps show expandable segments and their pages") {
  const RecordedConditions twenty = infer("segment_map 100MiB 40MiB\nsegment_map 500MiB 2MiB");
  CHECK(twenty.settings.expandable_segments);
  CHECK(twenty.conditions.settings == "expandable_segments:True");

  const RecordedConditions huge = infer("segment_map 2GiB 1GiB\nsegment_map 8GiB 3GiB");
  CHECK(huge.settings.gigabyte_pages);
  CHECK(huge.conditions.settings == "expandable_segments:True,page_size:1g");

  const RecordedConditions other = infer("segment_map 2GiB 64MiB\nsegment_map 8GiB 96MiB");
  CHECK(other.settings.large_segment_size == 32_MiB);
  CHECK(other.conditions.settings == "expandable_segments:True,large_segment_size_mb:32");
}

TEST_CASE("padding shows in blocks whose remainder was always split off") {
  const RecordedConditions padded = infer(final_block("small", "1536"));
  CHECK(padded.padding == 32_B);
  CHECK(rests_on(padded, "padding_inferred"));

  const RecordedConditions bare = infer(final_block("small", "1024"));
  CHECK(bare.padding == 0_B);
  CHECK(bare.conditions.soc == "ascend950");

  const RecordedConditions untold = infer(final_block("large", "1536"));
  CHECK(untold.padding == 32_B);
  CHECK(rests_on(untold, "padding_assumed"));

  CHECK(infer(final_block("small", "1536"), {.soc = Soc::ascend950}).padding == 0_B);
  CHECK(infer(cuda_history).padding == 0_B);
}

TEST_CASE("device memory is stated, or what was held and free when a request failed") {
  const std::string failing = R"(
    oom 30MiB 64MiB
    segment_free 100MiB 20MiB
    segment 200MiB 20MiB large
    block 200MiB 20MiB 0 inactive)";
  CHECK(infer(failing).conditions.device_memory == 70_MiB);
  CHECK(infer(failing).device_total == 70_MiB);
  CHECK(infer(failing, {.device_memory = 1_GiB}).conditions.device_memory == 1_GiB);

  const RecordedConditions untold = infer(npu_history);
  CHECK_FALSE(untold.conditions.device_memory.has_value());
  CHECK(untold.device_total == 64_GiB);
  CHECK(rests_on(untold, "device_memory_assumed"));
}

TEST_CASE("of several failed requests the one that shows least memory counts, but for the peak") {
  CHECK(infer(R"(
    oom 100MiB 640MiB
    oom 90MiB 640MiB
    segment 200MiB 20MiB large
    block 200MiB 20MiB 0 inactive)")
            .conditions.device_memory == 110_MiB);
  CHECK(infer(R"(
    oom 0 640MiB
    segment_alloc 300MiB 80MiB
    alloc 300MiB 80MiB
    segment 200MiB 20MiB large
    block 200MiB 20MiB 0 inactive
    segment 300MiB 81MiB large
    block 300MiB 81MiB 80MiB allocated)")
            .conditions.device_memory == 101_MiB);
}
