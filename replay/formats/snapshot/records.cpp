#include "replay/formats/snapshot/records.hpp"

#include <fmt/format.h>

#include <limits>
#include <string_view>
#include <utility>

namespace fragcast {
namespace {

constexpr std::size_t most_numbered = std::numeric_limits<std::uint16_t>::max();

/// Whether an entry is about memory at an address.
bool is_placed(RecordedAction action) {
  switch (action) {
    case RecordedAction::alloc:
    case RecordedAction::free_requested:
    case RecordedAction::free_completed:
    case RecordedAction::segment_alloc:
    case RecordedAction::segment_free:
    case RecordedAction::segment_map:
    case RecordedAction::segment_unmap:
    case RecordedAction::workspace_snapshot:
      return true;
    case RecordedAction::oom:
    case RecordedAction::snapshot:
    case RecordedAction::annotate:
    case RecordedAction::unknown:
      return false;
  }
  return false;
}

/// The place of `word` among those from `first` to `last`.
std::optional<std::uint8_t> place_among(std::optional<Word> word, Word first, Word last) {
  if (!word || *word < first || *word > last) return std::nullopt;
  return static_cast<std::uint8_t>(static_cast<int>(*word) - static_cast<int>(first));
}

}  // namespace

/// Calls `use(word, key, value)` for each item that has a text for a key and is not None. Where it
/// returns false the key is unknown, unless it means nothing anyway.
template <class Use>
void SnapshotRecords::for_each_field(const PickleObject& dict, Use use) {
  for (std::size_t i = 0; i < dict.items.size(); i += 2) {
    if (dict.items[i].kind() != PickleKind::text) continue;
    const PickleText key = dict.items[i].text();
    const PickleValue value = dict.items[i + 1];
    if (value.kind() == PickleKind::none) continue;
    if (!use(word_of(key), key, value) && !means_nothing(key)) count_unknown_key(key);
  }
}

PickleValue SnapshotRecords::entry(const PickleObject& dict) {
  fields_.enter("history entry", dict);
  RecordedEntry entry;
  std::optional<Address> address;
  std::optional<Bytes> size;
  std::optional<std::int64_t> time_us;
  std::optional<std::pair<PickleText, PickleValue>> stream_field;
  for_each_field(dict, [&](std::optional<Word> word, PickleText key, PickleValue value) {
    if (word == Word::action) {
      entry.action = action(key, value);
    } else if (word == Word::addr || word == Word::device_free) {
      address = fields_.address(key, value);
    } else if (word == Word::size) {
      size = fields_.bytes(key, value);
    } else if (word == Word::stream) {
      stream_field = {key, value};
    } else if (word == Word::time_us) {
      time_us = fields_.integer(key, value);
    } else if (word == Word::pool_id) {
      entry.pool = pool(key, value);
      parts_.recording.entries_have_pools = true;
    } else if (word == Word::frames) {
      entry.stack = stack(key, value);
    } else {
      return false;
    }
    return true;
  });
  entry.address = address.value_or(Address{});
  entry.size = size.value_or(Bytes{});
  if (is_placed(entry.action)) {
    if (!address) fields_.fail("has no `addr`");
    if (!size) fields_.fail("has no `size`");
    if (entry.address + entry.size < entry.address) fields_.fail("ends beyond the last address");
  }
  if (stream_field && (is_placed(entry.action) || entry.action == RecordedAction::oom)) {
    entry.stream = stream(stream_field->first, stream_field->second);
  }
  const auto handle = parts_.histories.add(entry, time_us);
  if (!handle) fields_.fail("is one too many for fragcast");
  return *handle;
}

PickleValue SnapshotRecords::segment(const PickleObject& dict) {
  fields_.enter("segment", dict);
  SegmentDraft draft;
  draft.begin = dict.begin;
  RecordedSegment& segment = draft.segment;
  std::optional<Address> address;
  std::optional<Bytes> total_size;
  std::vector<BlockDraft> blocks;
  for_each_field(dict, [&](std::optional<Word> word, PickleText key, PickleValue value) {
    if (word == Word::device) {
      draft.device = fields_.device(key, value);
    } else if (word == Word::address) {
      address = fields_.address(key, value);
    } else if (word == Word::total_size) {
      total_size = fields_.bytes(key, value);
    } else if (word == Word::stream) {
      segment.stream = stream(key, value);
    } else if (word == Word::segment_type) {
      segment.small = word_of(fields_.text_number(key, value)) == Word::small;
    } else if (word == Word::segment_pool_id) {
      segment.pool = pool(key, value);
    } else if (word == Word::is_expandable) {
      segment.expandable = fields_.boolean(key, value);
    } else if (word == Word::frames) {
      segment.stack = stack(key, value);
    } else if (word == Word::blocks) {
      if (is(value, Handle::empty_list)) return true;
      blocks = parts_.blocks.take(fields_.number(key, value, Handle::blocks, "a list of blocks"));
    } else {
      return word == Word::requested_size;
    }
    return true;
  });
  if (!address) fields_.fail("has no `address`");
  if (!total_size) fields_.fail("has no `total_size`");
  segment.address = *address;
  segment.total_size = *total_size;
  if (const auto wrong = place_blocks(segment, blocks)) fields_.fail(*wrong);
  parts_.segments.push_back(std::move(draft));
  return make_handle(Handle::segment, parts_.segments.size() - 1);
}

PickleValue SnapshotRecords::block(const PickleObject& dict) {
  fields_.enter("block", dict);
  BlockDraft draft;
  RecordedBlock& block = draft.block;
  std::optional<Bytes> size;
  std::optional<Bytes> requested;
  const PastUse* latest = nullptr;
  for_each_field(dict, [&](std::optional<Word> word, PickleText key, PickleValue value) {
    if (word == Word::address) {
      block.address = fields_.address(key, value);
      draft.has_address = true;
    } else if (word == Word::size) {
      size = fields_.bytes(key, value);
    } else if (word == Word::requested_size) {
      requested = fields_.bytes(key, value);
    } else if (word == Word::state) {
      block.state = state(key, value);
    } else if (word == Word::frames) {
      block.stack = stack(key, value);
    } else if (word == Word::history) {
      if (is(value, Handle::empty_list)) return true;
      latest = &parts_.past_uses[fields_.number(key, value, Handle::past_uses, "a list of uses")];
    } else {
      return false;
    }
    return true;
  });
  if (!size) fields_.fail("has no `size`");
  block.size = *size;
  if (latest != nullptr) {
    requested = latest->requested;
    block.stack = latest->stack;
    parts_.is_torch_2_0 = true;
  }
  const bool in_use = block.state != RecordedState::inactive;
  block.requested = requested.value_or(in_use ? block.size : Bytes{});
  if (in_use && block.requested > block.size) {
    fields_.fail(fmt::format("has {} bytes, fewer than the {} that were requested",
                             block.size.count(),
                             block.requested.count()));
  }
  const auto handle = parts_.blocks.add(draft);
  if (!handle) fields_.fail("is one too many for fragcast");
  return *handle;
}

PickleValue SnapshotRecords::past_use(const PickleObject& dict) {
  fields_.enter("use of a block", dict);
  PastUse past;
  for_each_field(dict, [&](std::optional<Word> word, PickleText key, PickleValue value) {
    if (word == Word::real_size) {
      past.requested = fields_.bytes(key, value);
    } else if (word == Word::frames) {
      past.stack = stack(key, value);
    } else {
      return word == Word::addr;
    }
    return true;
  });
  parts_.past_uses.push_back(past);
  return make_handle(Handle::past_use, parts_.past_uses.size() - 1);
}

PickleValue SnapshotRecords::frame(const PickleObject& dict) {
  fields_.enter("stack frame", dict);
  CallStacks& stacks = parts_.recording.stacks;
  std::string_view function;
  std::string_view file;
  Frame frame;
  for_each_field(dict, [&](std::optional<Word> word, PickleText key, PickleValue value) {
    if (word == Word::name) {
      function = fields_.text(key, value);
    } else if (word == Word::filename) {
      file = fields_.text(key, value);
    } else if (word == Word::line) {
      frame.line = fields_.word(key, value);
    } else {
      return false;
    }
    return true;
  });
  frame.function = stacks.intern(function);
  frame.file = stacks.intern(file);
  return make_handle(Handle::frame, stacks.intern(frame).value());
}

PickleValue SnapshotRecords::annotation(const PickleObject& dict) {
  fields_.enter("annotation", dict);
  RecordedAnnotation annotation;
  for_each_field(dict, [&](std::optional<Word> word, PickleText key, PickleValue value) {
    if (word == Word::name) {
      annotation.name = fields_.text(key, value);
    } else if (word == Word::stage) {
      annotation.start = word_of(fields_.text_number(key, value)) == Word::start;
    } else if (word == Word::device) {
      annotation.device = fields_.device(key, value);
    } else if (word == Word::time_us) {
      annotation.time_us = fields_.integer(key, value);
    } else {
      return false;
    }
    return true;
  });
  parts_.annotations.push_back(std::move(annotation));
  return make_handle(Handle::annotation, parts_.annotations.size() - 1);
}

PickleValue SnapshotRecords::divisions(const PickleObject& dict) {
  fields_.enter("roundup_power2_divisions", dict);
  for (std::size_t i = 0; i < dict.items.size(); i += 2) {
    const auto size = tables_.text(dict.items[i]);
    if (!size) fields_.fail("has a key that is no text");
    parts_.divisions[std::string{*size}] = fields_.integer(dict.items[i].text(), dict.items[i + 1]);
  }
  return make_handle(Handle::divisions);
}

PickleValue SnapshotRecords::settings(const PickleObject& dict) {
  fields_.enter("dict of allocator_settings", dict);
  RecordedSettings settings;
  for_each_field(dict, [&](std::optional<Word> word, PickleText key, PickleValue value) {
    if (word == Word::expandable_segments) {
      settings.expandable_segments = fields_.boolean(key, value);
    } else if (word == Word::max_split_size) {
      const std::int64_t most = fields_.integer(key, value);
      if (most >= 0) settings.max_split_size = Bytes{most};
    } else if (word == Word::garbage_collection_threshold) {
      settings.garbage_collection_threshold = fields_.real(key, value);
    } else if (word == Word::roundup_power2_divisions) {
      (void)fields_.number(key, value, Handle::divisions, "a dict of integers");
      settings.roundup_power2_divisions = std::move(parts_.divisions);
    } else if (word == Word::fragcast_device_memory) {
      settings.device_memory = fields_.bytes(key, value);
    } else if (word == Word::fragcast_memory_fraction) {
      settings.fraction = fields_.real(key, value);
      if (!(*settings.fraction >= 0.0 && *settings.fraction <= 1.0)) {
        fields_.fail("has a memory fraction that is not between 0 and 1");
      }
    } else if (word == Word::fragcast_soc) {
      settings.soc = fields_.text(key, value);
    } else if (tables_.texts()[key].ends_with("ALLOC_CONF")) {
      // Of two variables, such as a new name beside the old, the one that says something counts.
      if (settings.text.empty()) {
        settings.variable = tables_.texts()[key];
        settings.text = fields_.text(key, value);
      }
    } else {
      return false;
    }
    return true;
  });
  parts_.recording.settings = std::move(settings);
  return make_handle(Handle::settings);
}

PickleValue SnapshotRecords::pool(const PickleObject& pair) {
  fields_.enter("pool id", pair);
  const auto first = pair.items.size() == 2 ? tables_.integer(pair.items[0]) : std::nullopt;
  const auto second = pair.items.size() == 2 ? tables_.integer(pair.items[1]) : std::nullopt;
  if (!first || !second) fields_.fail("is not two integers");
  auto& pools = parts_.recording.pools;
  const std::pair id{*first, *second};
  if (id == pools.front()) return make_handle(Handle::pool, 0);
  const PoolIndex index = pool_index_.find_or_add(
      mix(mix(static_cast<std::uint64_t>(id.first)) ^ static_cast<std::uint64_t>(id.second)),
      [&](PoolIndex known) { return pools[known.index()] == id; },
      [&] {
        if (pools.size() > most_numbered) fields_.fail("is one of more than 65536");
        pools.push_back(id);
        return PoolIndex{pools.size() - 1};
      });
  return make_handle(Handle::pool, index.value());
}

RecordedAction SnapshotRecords::action(PickleText key, PickleValue value) {
  const PickleText name = fields_.text_number(key, value);
  const auto known = place_among(word_of(name), Word::alloc, Word::annotate);
  if (known) return static_cast<RecordedAction>(*known);
  ++unknown_actions_[name.value()];
  return RecordedAction::unknown;
}

RecordedState SnapshotRecords::state(PickleText key, PickleValue value) const {
  const auto word = word_of(fields_.text_number(key, value));
  if (word == Word::active_awaiting_free) return RecordedState::active_pending_free;
  const auto known = place_among(word, Word::active_allocated, Word::inactive);
  if (!known) fields_.fail(fmt::format("is in an unknown state, `{}`", *tables_.text(value)));
  return static_cast<RecordedState>(*known);
}

StackId SnapshotRecords::stack(PickleText key, PickleValue value) const {
  if (is(value, Handle::empty_list)) return StackId{};
  return StackId{static_cast<std::uint32_t>(
      fields_.number(key, value, Handle::stack, "a list of stack frames"))};
}

std::uint16_t SnapshotRecords::pool(PickleText key, PickleValue value) const {
  return static_cast<std::uint16_t>(fields_.number(key, value, Handle::pool, "a pair of integers"));
}

std::uint16_t SnapshotRecords::stream(PickleText key, PickleValue value) {
  const std::uint64_t handle = fields_.word(key, value);
  auto& streams = parts_.recording.streams;
  const StreamIndex index = stream_index_.find_or_add(
      mix(handle),
      [&](StreamIndex known) { return streams[known.index()] == handle; },
      [&] {
        if (streams.size() > most_numbered) fields_.fail("is on one of more than 65536 streams");
        streams.push_back(handle);
        return StreamIndex{streams.size() - 1};
      });
  return static_cast<std::uint16_t>(index.value());
}

void SnapshotRecords::report_unknown() {
  const auto report = [&](const auto& counts, auto& named) {
    for (const auto& [text, count] : counts) {
      named[std::string{tables_.texts()[PickleText{text}]}] += count;
    }
  };
  report(unknown_keys_, parts_.recording.unknown_keys);
  report(unknown_actions_, parts_.recording.unknown_actions);
}

}  // namespace fragcast
