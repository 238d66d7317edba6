#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

#include "policies/registry.hpp"
#include "replay/engine/session.hpp"
#include "sim/core/check.hpp"
#include "tests/support/random_trace.hpp"

// Bytes choose a model, settings, a small device and calls on the allocator, whose books are
// checked after each call. A finding is printed as a call script.

namespace {

using namespace fragcast;

constexpr std::array npu_settings{
    "",
    "expandable_segments:True",
    "expandable_segments:True,large_segment_size_mb:64",
    "expandable_segments:True,segment_size_mb:33,base_addr_aligned_kb:7",
    "expandable_segments:True,base_addr_aligned_kb:0,multi_stream_lazy_reclaim:True",
    "expandable_segments:True,page_size:1g",
    "page_size:1g",
    "max_split_size_mb:20",
    "max_split_size_mb:32,max_non_split_rounding_mb:40,garbage_collection_threshold:0.5",
    "garbage_collection_threshold:0.7,per_process_memory_fraction:0.8",
    "roundup_power2_divisions:[1:4,4:2,16:8,>:4],large_segment_size_mb:11",
    "throw_on_npumalloc_oom:True,per_process_memory_fraction:0.6",
    "multi_stream_lazy_reclaim:True",
};

constexpr std::array cuda_settings{
    "",
    "expandable_segments:True",
    "expandable_segments:True,max_split_size_mb:32",
    "expandable_segments:True,garbage_collection_threshold:0.5",
    "max_split_size_mb:21",
    "max_split_size_mb:32,max_non_split_rounding_mb:40,garbage_collection_threshold:0.5",
    "garbage_collection_threshold:0.7",
    "roundup_power2_divisions:[1:4,4:2,16:8,>:4]",
};

constexpr std::array device_sizes{83'889'664_B, 300_MiB, 734'003'200_B, 3_GiB, 64_GiB};

TraceShape shape_of(const Choose& choose, std::size_t calls) {
  return {.calls = calls,
          .streams = static_cast<std::uint16_t>(1 + choose(4)),
          .largest_request = choose(4) == 0 ? 2_GiB : 64_MiB,
          .stream_uses = choose(2) == 1,
          .empty_caches = choose(2) == 1,
          .empty_virtual_caches = choose(2) == 1,
          .pools = choose(2) == 1,
          .captures = choose(2) == 1,
          .fraction_changes = choose(2) == 1,
          .statistics_resets = choose(2) == 1,
          .settings_changes = choose(2) == 0
                                  ? std::vector<std::string>{}
                                  : std::vector<std::string>{"expandable_segments:True",
                                                             "expandable_segments:False",
                                                             "max_split_size_mb:20",
                                                             "max_split_size_mb:128",
                                                             "throw_on_npumalloc_oom:True"},
          .winds_down = choose(2) == 1};
}

const char* settings_for(Vendor vendor, const Choose& choose) {
  return vendor == Vendor::npu ? npu_settings[choose(npu_settings.size())]
                               : cuda_settings[choose(cuda_settings.size())];
}

Conditions conditions_of(Vendor vendor, const Choose& choose) {
  Conditions conditions;
  conditions.settings = settings_for(vendor, choose);
  conditions.device_memory = device_sizes[choose(device_sizes.size())];
  if (choose(4) == 0) conditions.fraction = static_cast<double>(choose(11)) / 10.0;
  conditions.instant_events = choose(2) == 0;
  conditions.soc = choose(4) == 0 ? "ascend950" : "ascend910b";
  return conditions;
}

void run(const Trace& trace, const ModelEntry& model, const ModelRelease& release) {
  RunSpec spec;
  spec.model = &model;
  spec.release = &release;
  Session session{trace, resolve_conditions(trace, spec)};
  FRAGCAST_CHECK(session.refusal().empty(), session.refusal());
  while (!session.at_end()) {
    session.step();
    session.model().check();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Choose choose = choose_by_bytes({data, size});
  const ModelEntry& model = all_models()[choose(all_models().size())];
  const ModelRelease& release = model.releases[choose(model.releases.size())];
  const Conditions conditions = conditions_of(model.vendor, choose);
  // A call takes about three bytes; what goes on after the last chooses nothing new.
  const std::size_t calls = std::min<std::size_t>(size / 2, 500);
  Trace trace = random_trace(shape_of(choose, calls), choose);
  trace.conditions = conditions;
  try {
    run(trace, model, release);
  } catch (const InvariantError& broken) {
    fmt::print(stderr, "{} ({})\n{}", broken.what(), model.name, script_of(trace));
    throw;
  }
  return 0;
}
