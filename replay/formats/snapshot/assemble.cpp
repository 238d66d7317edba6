#include "replay/formats/snapshot/assemble.hpp"

#include <fmt/format.h>

#include <map>
#include <span>
#include <unordered_map>
#include <utility>

namespace fragcast {
namespace {

/// How many devices may share one history: it is copied for each.
constexpr int most_sharers = 16;

/// Values of the outermost dict; absent where it lacks the key.
struct TopLevel {
  PickleValue segments;
  PickleValue histories;
  PickleValue annotations;
};

bool is_there(PickleValue value) { return value.kind() != PickleKind::absent; }

History copy(const History& history) {
  History result;
  for (const RecordedEntry& entry : history.entries) result.entries.push_back(entry);
  for (const std::int64_t time : history.times_us) result.times_us.push_back(time);
  return result;
}

/// Fills the devices of the recording that waits in the parts.
class Assembly {
 public:
  Assembly(SnapshotFields& fields, SnapshotRecords& records, SnapshotParts& parts)
      : fields_{fields}, records_{records}, parts_{parts} {}

  void take_dict(const PickleObject& dict);
  void take_list(const PickleObject& segments);
  Recording finish();

 private:
  [[nodiscard]] TopLevel read(const PickleObject& dict);
  [[nodiscard]] std::span<const PickleValue> items(std::string_view key,
                                                   PickleValue list,
                                                   std::string_view wanted) const;
  void take_segments(std::span<const PickleValue> segments);
  void take_histories(std::span<const PickleValue> histories);
  void take_annotations(std::span<const PickleValue> annotations);
  RecordedDevice& device(int index);

  SnapshotFields& fields_;
  SnapshotRecords& records_;
  SnapshotParts& parts_;
  std::map<int, RecordedDevice> devices_;
};

void Assembly::take_dict(const PickleObject& dict) {
  fields_.enter("outermost dict", dict);
  const TopLevel top = read(dict);
  const bool has_segments = is_there(top.segments);
  const bool has_histories = is_there(top.histories);
  if (!has_segments && !has_histories) {
    fields_.fail(
        "has neither `segments` nor `device_traces`, so it is not what "
        "torch.cuda.memory._dump_snapshot writes");
  }
  if (has_segments) take_segments(items("segments", top.segments, "a list of segments"));
  if (has_histories) {
    take_histories(
        items("device_traces", top.histories, "a list of devices' lists of history entries"));
  }
  if (is_there(top.annotations)) {
    take_annotations(items("external_annotations", top.annotations, "a list of annotations"));
  }
  std::string& layer = parts_.recording.source.layer;
  layer = !has_histories ? "segments only" : !has_segments ? "history only" : "snapshot";
  if (parts_.is_torch_2_0) layer += " of torch 2.0";
}

void Assembly::take_list(const PickleObject& segments) {
  fields_.enter("outermost list", segments);
  take_segments(segments.items);
  parts_.recording.source.layer = "list of segments";
}

TopLevel Assembly::read(const PickleObject& dict) {
  TopLevel top;
  for (std::size_t i = 0; i < dict.items.size(); i += 2) {
    const PickleValue value = dict.items[i + 1];
    if (dict.items[i].kind() != PickleKind::text || value.kind() == PickleKind::none) continue;
    const PickleText key = dict.items[i].text();
    const std::optional<Word> word = word_of(key);
    if (word == Word::segments) {
      top.segments = value;
    } else if (word == Word::device_traces) {
      top.histories = value;
    } else if (word == Word::external_annotations) {
      top.annotations = value;
    } else if (word == Word::allocator_settings) {
      (void)fields_.number(key, value, Handle::settings, "a dict of settings");
    } else {
      records_.count_unknown_key(key);
    }
  }
  return top;
}

/// The items of a list that is the value of a key of the outermost dict.
std::span<const PickleValue> Assembly::items(std::string_view key,
                                             PickleValue list,
                                             std::string_view wanted) const {
  if (is(list, Handle::empty_list)) return {};
  if (!is(list, Handle::list)) fields_.fail_value(key, list, wanted);
  return parts_.lists[list.payload()];
}

void Assembly::take_segments(std::span<const PickleValue> segments) {
  std::vector<SegmentDraft> drafts;
  drafts.reserve(segments.size());
  for (const PickleValue item : segments) {
    if (!is(item, Handle::segment)) fields_.fail_item(item, "a segment, with `blocks`");
    // Named a second time it is empty but in the same place, and so overlaps itself.
    drafts.push_back(std::move(parts_.segments[item.payload()]));
  }
  if (const SegmentDraft* draft = find_overlap(drafts)) {
    PickleObject dict;
    dict.begin = draft->begin;
    fields_.enter("segment", dict);
    fields_.fail(fmt::format("at address {:#x} overlaps another of its device and stream",
                             draft->segment.address.value()));
  }
  for (SegmentDraft& draft : drafts) {
    device(draft.device).segments.push_back(std::move(draft.segment));
  }
}

void Assembly::take_histories(std::span<const PickleValue> histories) {
  std::unordered_map<std::uint64_t, int> sharers;
  for (const PickleValue item : histories) {
    if (is(item, Handle::empty_list)) continue;
    if (!is(item, Handle::history)) fields_.fail_item(item, "a list of history entries");
    if (++sharers[item.payload()] > most_sharers) {
      fields_.fail(fmt::format("gives one history to more than {} devices", most_sharers));
    }
  }
  int index = 0;
  for (const PickleValue item : histories) {
    RecordedDevice& at = device(index++);
    if (is(item, Handle::empty_list)) continue;
    History& history = parts_.histories[item];
    History own = --sharers[item.payload()] == 0 ? std::move(history) : copy(history);
    at.entries = std::move(own.entries);
    at.times_us = std::move(own.times_us);
  }
}

void Assembly::take_annotations(std::span<const PickleValue> annotations) {
  for (const PickleValue item : annotations) {
    if (!is(item, Handle::annotation)) fields_.fail_item(item, "an annotation, with `stage`");
    parts_.recording.annotations.push_back(parts_.annotations[item.payload()]);
  }
}

RecordedDevice& Assembly::device(int index) {
  RecordedDevice& at = devices_[index];
  at.index = index;
  return at;
}

Recording Assembly::finish() {
  Recording& recording = parts_.recording;
  for (auto& [index, device] : devices_) recording.devices.push_back(std::move(device));
  // Entries that are on no stream have index 0 all the same.
  if (recording.streams.empty()) recording.streams.push_back(0);
  records_.report_unknown();
  return std::move(recording);
}

}  // namespace

bool has_all_segments(const PickleObject& outermost) {
  if (outermost.kind != PickleObject::Kind::dict) return false;
  const auto& items = outermost.items;
  for (std::size_t i = 0; i + 2 < items.size(); i += 2) {
    if (items[i].kind() == PickleKind::text && word_of(items[i].text()) == Word::segments) {
      return true;
    }
  }
  return false;
}

Recording assemble(const PickleObject& outermost,
                   SnapshotFields& fields,
                   SnapshotRecords& records,
                   SnapshotParts& parts) {
  Assembly assembly{fields, records, parts};
  switch (outermost.kind) {
    case PickleObject::Kind::dict:
      assembly.take_dict(outermost);
      break;
    case PickleObject::Kind::list:
      assembly.take_list(outermost);
      break;
    case PickleObject::Kind::tuple:
      fields.enter("outermost tuple", outermost);
      fields.fail("is neither a dict nor a list");
  }
  return assembly.finish();
}

}  // namespace fragcast
