#include "policies/caching/diagnostics.hpp"

#include <algorithm>
#include <set>

#include "tests/support/catch.hpp"
#include "tests/support/properties.hpp"
#include "tests/support/transcript.hpp"

namespace fragcast {
namespace {

SettingsCase npu(std::string_view text) {
  const ModelEntry* model = find_model("npu-caching");
  return {.model = model,
          .release = &model->default_release(),
          .text = text,
          .padding = 32_B,
          .limit = {},
          .largest_request = 64_MiB};
}

SettingsCase cuda(std::string_view text, std::string_view release = "2.6") {
  const ModelEntry* model = find_model("cuda-caching");
  return {.model = model,
          .release = find_release(*model, release),
          .text = text,
          .limit = {},
          .largest_request = 64_MiB};
}

std::vector<std::string> ids(const SettingsCase& settings) {
  std::vector<std::string> ids;
  for (const SettingsRemark& remark : diagnose(settings)) ids.emplace_back(remark.id);
  return ids;
}

/// The sentence of the only remark.
std::string remark(const SettingsCase& settings) {
  const std::vector<SettingsRemark> remarks = diagnose(settings);
  REQUIRE(remarks.size() == 1);
  return remarks.front().text;
}

const std::vector<std::string> none;
using Ids = std::vector<std::string>;

/// Whether random traces run alike under both settings, to the last event.
void check_alike(const std::string& a, const std::string& b, const Conditions& conditions) {
  check_property({.shape = {.calls = 200, .streams = 2, .stream_uses = true, .empty_caches = true},
                  .conditions = conditions,
                  .seeds = 20},
                 [&](const Trace& trace) -> std::string {
                   Trace first = trace;
                   Trace second = trace;
                   first.conditions.settings = a;
                   second.conditions.settings = b;
                   const ModelEntry& model = *find_model("npu-caching");
                   return is_same(transcript_of(first, model), transcript_of(second, model))
                              ? ""
                              : "the two settings do not run alike";
                 });
}

TEST_CASE("useful settings bring no remark", "[diagnostics]") {
  CHECK(ids(npu("")) == none);
  CHECK(ids(npu("expandable_segments:True")) == none);
  CHECK(ids(npu("max_split_size_mb:32,max_non_split_rounding_mb:40")) == none);
  CHECK(ids(cuda("expandable_segments:True,max_split_size_mb:32")) == none);
  CHECK(ids(cuda("roundup_power2_divisions:[256:1,>:4],expandable_segments:True")) == none);
}

TEST_CASE("every diagnostic has an id of its own", "[diagnostics]") {
  std::set<std::string_view> seen;
  for (const Diagnostic& diagnostic : all_diagnostics()) CHECK(seen.insert(diagnostic.id).second);
}

TEST_CASE("of a refused pair the way out is told", "[diagnostics]") {
  CHECK(remark(npu("expandable_segments:True,max_split_size_mb:64")) ==
        "leave out max_split_size_mb, which expandable segments hardly need, or set "
        "expandable_segments:False to keep it");
  CHECK(remark(npu("max_split_size_mb:64,garbage_collection_threshold:0.5,"
                   "expandable_segments:True")) ==
        "leave out max_split_size_mb and garbage_collection_threshold, which expandable segments "
        "hardly need, or set expandable_segments:False to keep them");
  CHECK(ids(npu("max_split_size_mb:10")) == none);  // the refusal itself says what is wrong
}

TEST_CASE("a key that the release lacks is looked for in others", "[diagnostics]") {
  CHECK(remark(cuda("large_segment_size_mb:64")) ==
        "large_segment_size_mb is known to --release 2.10 and --release after-2.12");
  CHECK(ids(cuda("large_segment_size_mb:64", "2.10")) == none);
  CHECK(remark(npu("backend:native")) ==
        "backend is a key of PYTORCH_CUDA_ALLOC_CONF alone: leave it out");
  CHECK(remark(npu("roundup_power2_divisions:[1:2,>:4], foo : 1")) ==
        "no allocator has a key foo: leave it out (fragcast models lists the keys)");
}

TEST_CASE("max_split_size_mb does nothing above the largest segment", "[diagnostics]") {
  SettingsCase settings = npu("max_split_size_mb:128");
  CHECK(remark(settings) ==
        "max_split_size_mb does nothing: with 64.00 MiB as the largest request, no block is as "
        "large as 128.00 MiB");
  settings.largest_request = 127_MiB;  // in a segment of 128 MiB
  CHECK(ids(settings) == none);
  settings.largest_request = 1_MiB;
  settings.largest_initial_segment = 128_MiB;
  CHECK(ids(settings) == none);
  settings.largest_initial_segment = 0_B;
  settings.changes_at_run_time = true;
  CHECK(ids(settings) == none);
  // A request of 5 MiB has a segment of 20.
  SettingsCase small = npu("max_split_size_mb:20");
  small.largest_request = 5_MiB;
  CHECK(ids(small) == none);
  CHECK(ids(cuda("expandable_segments:True,max_split_size_mb:128")) == none);
}

TEST_CASE("max_split_size_mb above the largest segment changes no run", "[diagnostics]") {
  check_alike("max_split_size_mb:67", "", {});  // requests up to 64 MiB
}

TEST_CASE("max_non_split_rounding_mb needs max_split_size_mb", "[diagnostics]") {
  CHECK(ids(npu("max_non_split_rounding_mb:40")) == Ids{"non_split_rounding_unused"});
  CHECK(ids(npu("large_segment_size_mb:40")) == none);
  CHECK(ids(npu("large_segment_size_mb:40,max_non_split_rounding_mb:40")) == none);
  check_alike("max_non_split_rounding_mb:40", "", {});
}

TEST_CASE("garbage is collected only below a limit", "[diagnostics]") {
  SettingsCase settings = npu("garbage_collection_threshold:0.8");
  CHECK(remark(settings) ==
        "garbage_collection_threshold does nothing without a limit below the device's memory: set "
        "one with set_per_process_memory_fraction() or per_process_memory_fraction (--fraction)");
  settings.limit = 32_GiB;
  CHECK(ids(settings) == none);
  // CUDA has no such key.
  CHECK(remark(cuda("garbage_collection_threshold:0.8")).find("or per_process_memory_fraction") ==
        std::string::npos);
}

TEST_CASE("a garbage_collection_threshold without a limit changes no run", "[diagnostics]") {
  Conditions conditions;
  conditions.device_memory = 512_MiB;
  check_alike("garbage_collection_threshold:0.2", "", conditions);
}

TEST_CASE("garbage is not collected in expandable ranges", "[diagnostics]") {
  SettingsCase settings = cuda("expandable_segments:True,garbage_collection_threshold:0.8");
  settings.limit = 32_GiB;
  CHECK(ids(settings) == Ids{"garbage_collection_in_ranges"});
  settings.largest_initial_segment = 20_MiB;
  CHECK(ids(settings) == none);
}

TEST_CASE("pages of 1 GiB need a device that holds one for the largest request", "[diagnostics]") {
  SettingsCase settings = npu("page_size:1g");
  CHECK(ids(settings) == none);  // of unlimited memory
  settings.device_is_limited = true;
  settings.device_total = 1000_MiB;
  CHECK(remark(settings) ==
        "page_size:1g fails outright: it takes memory in units of 1 GiB, 1024.00 MiB for the "
        "largest request, and there are 1000.00 MiB: leave it out");
  settings.device_total = 1_GiB;
  CHECK(ids(settings) == none);
  settings.limit = 512_MiB;
  CHECK(ids(settings) == Ids{"gigabyte_pages_fail"});
  settings.largest_request = 1_KiB;  // served by the small pool
  CHECK(ids(settings) == none);
}

TEST_CASE("divisions inflate powers of two where requests are padded", "[diagnostics]") {
  SettingsCase settings = npu("roundup_power2_divisions:4");
  settings.powers_of_two = (1U << 24) | (1U << 20);
  CHECK(remark(settings) ==
        "roundup_power2_divisions inflates powers of two: with 32 bytes of padding, a request for "
        "16.00 MiB lies just above one and gets 20.00 MiB: leave it out, or ask for a little less");
  settings.padding = 0_B;
  CHECK(ids(settings) == none);
  settings.padding = 32_B;
  settings.powers_of_two = 1U << 9;  // too small for divisions
  CHECK(ids(settings) == none);
  settings.text = "roundup_power2_divisions:[64:4,>:0]";
  settings.powers_of_two = 1U << 27;  // an interval without
  CHECK(ids(settings) == none);
}

TEST_CASE("of two segment sizes one wins", "[diagnostics]") {
  CHECK(remark(npu("segment_size_mb:64,large_segment_size_mb:32")) ==
        "segment_size_mb is ignored: large_segment_size_mb wins over it, so leave it out");
  check_alike("segment_size_mb:64,large_segment_size_mb:32", "large_segment_size_mb:32", {});
  CHECK(remark(npu("segment_size_mb:64")) ==
        "segment_size_mb is deprecated and does nothing here: use large_segment_size_mb, which "
        "also holds without expandable_segments");
  check_alike("segment_size_mb:64", "", {});
  CHECK(remark(npu("segment_size_mb:64,expandable_segments:True")) ==
        "segment_size_mb is deprecated: use large_segment_size_mb, which also holds without "
        "expandable_segments");
  CHECK(ids(npu("page_size:1g,large_segment_size_mb:32")) == Ids{"gigabyte_pages_win"});
}

TEST_CASE("throw_on_npumalloc_oom does nothing below a fraction of 1", "[diagnostics]") {
  SettingsCase settings = npu("throw_on_npumalloc_oom:True");
  CHECK(ids(settings) == none);
  settings.limit = 32_GiB;
  CHECK(remark(settings) ==
        "throw_on_npumalloc_oom does nothing below a memory fraction of 1: the limit of 32.00 GiB "
        "is looked at first, and what exceeds it is tried again after a flush");
  // The key's fraction is the smaller one: it rejects.
  settings.text = "throw_on_npumalloc_oom:True,per_process_memory_fraction:0.25";
  CHECK(ids(settings) == none);
  Conditions conditions;
  conditions.device_memory = 512_MiB;
  check_alike("throw_on_npumalloc_oom:True,per_process_memory_fraction:0.5",
              "per_process_memory_fraction:0.5",
              conditions);
}

}  // namespace
}  // namespace fragcast
