#include "replay/formats/snapshot/histories.hpp"

#include "replay/formats/snapshot/handles.hpp"

namespace fragcast {

void History::push_back(const RecordedEntry& entry, std::optional<std::int64_t> time_us) {
  if (time_us) {
    while (times_us.size() < entries.size()) times_us.push_back(*time_us);
    times_us.push_back(*time_us);
  } else if (!times_us.empty()) {
    times_us.push_back(times_us.back());
  }
  entries.push_back(entry);
}

std::optional<PickleValue> Histories::add(const RecordedEntry& entry,
                                          std::optional<std::int64_t> time_us) {
  if (!filling_) {
    if (histories_.size() == SplitNumber::most_sequences) return std::nullopt;
    histories_.emplace_back();
    filling_ = true;
  }
  History& history = histories_.back();
  if (history.entries.size() + 1 == SplitNumber::most_places) return std::nullopt;
  const SplitNumber number{.sequence = histories_.size() - 1, .place = history.entries.size()};
  history.push_back(entry, time_us);
  ++entry_count_;
  return make_handle(Handle::entry, number.joined());
}

std::optional<PickleValue> Histories::extend(std::vector<PickleValue>& runs,
                                             std::span<const PickleValue> entries) {
  for (const PickleValue entry : entries) {
    if (!is(entry, Handle::entry)) return entry;
    // Numbers of one history follow each other, and the last of one and the first of the next
    // differ by more.
    if (!runs.empty() && runs.back().payload() + 1 == entry.payload()) {
      runs.back() = entry;
    } else {
      runs.push_back(entry);
      runs.push_back(entry);
    }
  }
  return std::nullopt;
}

bool Histories::is_all_of_one(std::span<const PickleValue> runs) const {
  if (runs.size() != 2) return false;
  const SplitNumber first = SplitNumber::of(runs[0]);
  const SplitNumber last = SplitNumber::of(runs[1]);
  return first.place == 0 && last.place + 1 == histories_[first.sequence].entries.size();
}

std::optional<PickleValue> Histories::close(std::span<const PickleValue> runs) {
  filling_ = false;
  if (is_all_of_one(runs)) {
    return make_handle(Handle::history, SplitNumber::of(runs[0]).sequence);
  }
  if (histories_.size() == SplitNumber::most_sequences) return std::nullopt;
  History joined;
  for (std::size_t i = 0; i < runs.size(); i += 2) {
    const SplitNumber first = SplitNumber::of(runs[i]);
    const History& from = histories_[first.sequence];
    for (std::uint64_t at = first.place; at <= SplitNumber::of(runs[i + 1]).place; ++at) {
      joined.push_back(from.entries[at],
                       from.times_us.empty() ? std::nullopt : std::optional{from.times_us[at]});
    }
  }
  histories_.push_back(std::move(joined));
  return make_handle(Handle::history, histories_.size() - 1);
}

}  // namespace fragcast
