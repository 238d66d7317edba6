#include "replay/formats/snapshot/words.hpp"

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "sim/core/check.hpp"

namespace fragcast {
namespace {

constexpr auto words = std::to_array<std::pair<Word, std::string_view>>({
    {Word::segments, "segments"},
    {Word::device_traces, "device_traces"},
    {Word::allocator_settings, "allocator_settings"},
    {Word::external_annotations, "external_annotations"},
    {Word::action, "action"},
    {Word::addr, "addr"},
    {Word::device_free, "device_free"},
    {Word::size, "size"},
    {Word::stream, "stream"},
    {Word::time_us, "time_us"},
    {Word::pool_id, "pool_id"},
    {Word::frames, "frames"},
    {Word::alloc, "alloc"},
    {Word::free_requested, "free_requested"},
    {Word::free_completed, "free_completed"},
    {Word::segment_alloc, "segment_alloc"},
    {Word::segment_free, "segment_free"},
    {Word::segment_map, "segment_map"},
    {Word::segment_unmap, "segment_unmap"},
    {Word::oom, "oom"},
    {Word::snapshot, "snapshot"},
    {Word::workspace_snapshot, "workspace_snapshot"},
    {Word::annotate, "annotate"},
    {Word::device, "device"},
    {Word::address, "address"},
    {Word::total_size, "total_size"},
    {Word::segment_type, "segment_type"},
    {Word::segment_pool_id, "segment_pool_id"},
    {Word::is_expandable, "is_expandable"},
    {Word::blocks, "blocks"},
    {Word::requested_size, "requested_size"},
    {Word::state, "state"},
    {Word::history, "history"},
    {Word::real_size, "real_size"},
    {Word::active_allocated, "active_allocated"},
    {Word::active_pending_free, "active_pending_free"},
    {Word::inactive, "inactive"},
    {Word::active_awaiting_free, "active_awaiting_free"},
    {Word::small, "small"},
    {Word::large, "large"},
    {Word::name, "name"},
    {Word::filename, "filename"},
    {Word::line, "line"},
    {Word::stage, "stage"},
    {Word::start, "START"},
    {Word::end, "END"},
    {Word::max_split_size, "max_split_size"},
    {Word::garbage_collection_threshold, "garbage_collection_threshold"},
    {Word::expandable_segments, "expandable_segments"},
    {Word::roundup_power2_divisions, "roundup_power2_divisions"},
    {Word::fragcast_device_memory, "fragcast_device_memory"},
    {Word::fragcast_memory_fraction, "fragcast_memory_fraction"},
    {Word::fragcast_soc, "fragcast_soc"},
});

constexpr auto meaningless = std::to_array<std::string_view>({
    "allocated_size",
    "active_size",
    "compile_context",
    "user_metadata",
    "forward_frames",
    "category",
    "fx_node_op",
    "fx_node_name",
    "fx_original_trace",
    "fx_node_info",
    "pinned_num_register_threads",
    "release_lock_on_cudamalloc",
    "pinned_use_cuda_host_register",
    "pinned_use_hip_host_register",
    "graph_capture_record_stream_reuse",
});

constexpr bool in_order() {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (static_cast<std::size_t>(words[i].first) != i) return false;
  }
  return true;
}
static_assert(words.size() == word_count && in_order(),
              "a word's number is its place in the table");

}  // namespace

void intern_words(PickleTables& tables) {
  FRAGCAST_CHECK(tables.texts().size() == 0, "words come before all other texts");
  for (const auto& [word, text] : words) tables.texts().intern(text);
  for (const std::string_view text : meaningless) tables.texts().intern(text);
}

bool means_nothing(PickleText key) {
  return key.index() >= word_count && key.index() < word_count + meaningless.size();
}

}  // namespace fragcast
