#include "tests/support/situations.hpp"

#include <utility>

namespace fragcast {
namespace {

Conditions conditions(Bytes device_memory, std::string settings = "") {
  Conditions result;
  result.device_memory = device_memory;
  result.settings = std::move(settings);
  return result;
}

Conditions deferred(Conditions conditions) {
  conditions.instant_events = false;
  return conditions;
}

Conditions limited(Conditions conditions, double fraction) {
  conditions.fraction = fraction;
  return conditions;
}

const TraceShape one_stream{.empty_caches = true, .settings_changes = {}};
const TraceShape many_streams{
    .streams = 4, .stream_uses = true, .empty_caches = true, .settings_changes = {}};
const TraceShape everything{.streams = 3,
                            .stream_uses = true,
                            .empty_caches = true,
                            .pools = true,
                            .captures = true,
                            .fraction_changes = true,
                            .statistics_resets = true,
                            .settings_changes = {}};

Situation situation(std::string name, const TraceShape& shape, Conditions where) {
  return {.name = std::move(name),
          .trials = {.shape = shape, .conditions = std::move(where), .seeds = 20}};
}

}  // namespace

std::vector<Situation> common_situations() {
  return {
      situation("one stream, memory to spare", one_stream, conditions(64_GiB)),
      situation("one stream, short of memory", one_stream, conditions(300_MiB)),
      situation("many streams, work done at once", many_streams, conditions(64_GiB)),
      situation("many streams, work deferred", many_streams, deferred(conditions(64_GiB))),
      situation("many streams, work deferred, short of memory",
                many_streams,
                deferred(conditions(500_MiB))),
      situation("pools and captures", everything, deferred(conditions(64_GiB))),
      situation("pools and captures, short of memory", everything, deferred(conditions(500_MiB))),
  };
}

std::vector<Situation> npu_situations() {
  std::vector<Situation> list;
  for (const char* settings :
       {"expandable_segments:True",
        "expandable_segments:True,base_addr_aligned_kb:0",
        "expandable_segments:True,large_segment_size_mb:64",
        "expandable_segments:True,multi_stream_lazy_reclaim:True",
        "expandable_segments:True,per_process_memory_fraction:0.7",
        "max_split_size_mb:20",
        "max_split_size_mb:32,max_non_split_rounding_mb:40",
        "max_split_size_mb:20,garbage_collection_threshold:0.5,"
        "per_process_memory_fraction:0.8",
        "garbage_collection_threshold:0.6,per_process_memory_fraction:0.9",
        "large_segment_size_mb:32,roundup_power2_divisions:[1:4,4:2,16:8,>:4]",
        "throw_on_npumalloc_oom:True,per_process_memory_fraction:0.5",
        "multi_stream_lazy_reclaim:True"}) {
    list.push_back(situation(settings, many_streams, deferred(conditions(500_MiB, settings))));
    list.push_back(situation(std::string{settings} + " with pools and captures",
                             everything,
                             deferred(conditions(700_MiB, settings))));
  }
  list.push_back(situation("page_size:1g", many_streams, conditions(4_GiB, "page_size:1g")));
  list.push_back(situation("expandable segments of 1 GiB pages",
                           many_streams,
                           conditions(4_GiB, "expandable_segments:True,page_size:1g")));

  TraceShape cached_pages = many_streams;
  cached_pages.empty_virtual_caches = true;
  list.push_back(situation("cached page handles",
                           cached_pages,
                           deferred(conditions(500_MiB, "expandable_segments:True"))));

  TraceShape toggling = everything;
  toggling.settings_changes = {"expandable_segments:True",
                               "expandable_segments:False",
                               "max_split_size_mb:20",
                               "throw_on_npumalloc_oom:True,per_process_memory_fraction:0.6",
                               "expandable_segments:False,max_split_size_mb:32",
                               "not_a_key:1"};
  list.push_back(
      situation("settings changed at run time", toggling, deferred(conditions(700_MiB))));
  list.push_back(situation("settings changed at run time, under a limit",
                           toggling,
                           limited(deferred(conditions(700_MiB)), 0.8)));
  return list;
}

std::vector<Situation> cuda_situations() {
  std::vector<Situation> list;
  for (const char* settings :
       {"expandable_segments:True",
        "expandable_segments:True,max_split_size_mb:32",
        "expandable_segments:True,max_split_size_mb:64,max_non_split_rounding_mb:32",
        "max_split_size_mb:21",
        "max_split_size_mb:32,max_non_split_rounding_mb:40",
        "roundup_power2_divisions:[1:4,4:2,16:8,>:4]"}) {
    list.push_back(situation(settings, many_streams, deferred(conditions(500_MiB, settings))));
    list.push_back(situation(std::string{settings} + " with pools and captures",
                             everything,
                             deferred(conditions(700_MiB, settings))));
  }
  for (const char* settings : {"garbage_collection_threshold:0.6",
                               "max_split_size_mb:21,garbage_collection_threshold:0.5",
                               "expandable_segments:True,garbage_collection_threshold:0.5"}) {
    list.push_back(
        situation(settings, many_streams, limited(deferred(conditions(500_MiB, settings)), 1.0)));
  }
  TraceShape toggling = everything;
  toggling.settings_changes = {"expandable_segments:True",
                               "expandable_segments:False",
                               "max_split_size_mb:21",
                               "garbage_collection_threshold:0.6",
                               "expandable_segments:True,max_split_size_mb:32",
                               "not_a_key:1"};
  list.push_back(
      situation("settings changed at run time", toggling, deferred(conditions(700_MiB))));
  list.push_back(situation("settings changed at run time, under a limit",
                           toggling,
                           limited(deferred(conditions(700_MiB)), 0.8)));
  return list;
}

std::vector<Situation> situations_of(const ModelEntry& model) {
  std::vector<Situation> list = common_situations();
  std::vector<Situation> own;
  if (model.variable == "PYTORCH_NPU_ALLOC_CONF") own = npu_situations();
  if (model.variable == "PYTORCH_CUDA_ALLOC_CONF") own = cuda_situations();
  list.insert(list.end(), own.begin(), own.end());
  return list;
}

}  // namespace fragcast
