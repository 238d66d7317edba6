#include "bench/snapshot_generator.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "replay/formats/pickle/writer.hpp"

namespace fragcast {
namespace {

/// What a recorded run looks like, counted in real recordings.
struct Run {
  bool npu = false;
  int activations = 0;
  int weights = 0;
  /// Different call stacks of the loop, how deep they are, and how many outer frames they share.
  int stacks = 0;
  int depth = 0;
  int shared_frames = 0;
  /// The number of the first outer frame of the stacks in which weights were made.
  int weights_outer = 0;
  std::int64_t stream = 0;
};

constexpr Run cuda_run{.npu = false,
                       .activations = 600,
                       .weights = 300,
                       .stacks = 88,
                       .depth = 37,
                       .shared_frames = 24,
                       .weights_outer = 500,
                       .stream = 0};
constexpr Run npu_run{.npu = true,
                      .activations = 300,
                      .weights = 100,
                      .stacks = 33,
                      .depth = 8,
                      .shared_frames = 6,
                      .weights_outer = 0,
                      .stream = 1534455456};

/// A place in memory that one tensor after another occupies.
struct Slot {
  std::int64_t address = 0;
  std::int64_t segment_size = 0;
  std::int64_t requested = 0;
  int stack = 0;
};

class Generator {
 public:
  Generator(const SnapshotSize& size, std::ostream& out);
  void write();

 private:
  enum class Use : std::uint8_t { allocate, free };

  void add_slot(std::vector<Slot>& slots, std::int64_t size_class);
  template <class Visit>
  void run(Visit visit) const;
  void write_segments();
  void write_segment(const Slot& slot, bool live);
  void write_entry(std::string_view action, const Slot& slot);
  void write_frames(int stack);
  void write_frame(int number);
  void write_settings();

  const SnapshotSize& size_;
  const Run& run_;
  std::mt19937 random_;
  std::int64_t next_address_ = std::int64_t{0x7f00} << 32;
  std::vector<Slot> weights_;
  std::vector<Slot> activations_;
  std::vector<Slot> temporaries_;

  PickleWriter writer_;
  std::map<int, PickleWriter::Reference> frames_;
  /// The list of frames that the entry before wrote: both entries of a free have the same.
  std::optional<PickleWriter::Reference> last_frames_;
  std::int64_t time_us_ = 1'754'641'328'000'000;
};

constexpr std::int64_t page = std::int64_t{2} << 20;

Generator::Generator(const SnapshotSize& size, std::ostream& out)
    : size_{size},
      run_{size.style == SnapshotStyle::npu ? npu_run : cuda_run},
      random_{size.seed},
      writer_{out} {
  // Classes of sizes, in pages: the three kinds never fit each other's segments.
  for (int i = 0; i < run_.weights; ++i) add_slot(weights_, 6 + i % 3);
  for (int i = 0; i < run_.activations; ++i) add_slot(activations_, 10 + i % 11);
  add_slot(temporaries_, 30);
  // Weights are not made in the loop: their stacks come after those of its allocations and frees.
  for (Slot& slot : weights_) slot.stack = 2 * run_.stacks + slot.stack % 8;
}

void Generator::add_slot(std::vector<Slot>& slots, std::int64_t size_class) {
  // Less than 1 MiB stays free, so the allocator does not split it off.
  std::uniform_int_distribution<std::int64_t> slack{64, page / 4};
  slots.push_back({.address = next_address_,
                   .segment_size = size_class * page,
                   .requested = size_class * page - slack(random_),
                   .stack = static_cast<int>(slots.size()) % run_.stacks});
  next_address_ += size_class * page;
}

/// Calls `visit(use, slot)` for each request, until the entries suffice; a free makes two.
template <class Visit>
void Generator::run(Visit visit) const {
  std::int64_t entries = 0;
  const auto request = [&](Use use, const Slot& slot) {
    if (entries >= size_.events) return;
    visit(use, slot);
    entries += use == Use::allocate ? 1 : 2;
  };
  while (entries < size_.events) {
    for (const Slot& slot : activations_) {
      request(Use::allocate, slot);
      request(Use::allocate, temporaries_.front());
      request(Use::free, temporaries_.front());
    }
    for (std::size_t i = activations_.size(); i-- > 0;) request(Use::free, activations_[i]);
  }
}

void Generator::write() {
  writer_.begin_dict();
  writer_.key("segments");
  write_segments();
  writer_.key("device_traces");
  writer_.begin_list();
  writer_.begin_list();
  run([&](Use use, const Slot& slot) {
    last_frames_.reset();
    if (use == Use::allocate) {
      write_entry("alloc", slot);
    } else {
      write_entry("free_requested", slot);
      write_entry("free_completed", slot);
    }
  });
  writer_.end_list();
  writer_.end_list();
  if (!run_.npu) write_settings();
  writer_.end_dict();
  writer_.finish();
}

void Generator::write_segments() {
  std::map<std::int64_t, bool> live;
  for (const Slot& slot : weights_) live[slot.address] = true;
  run([&](Use use, const Slot& slot) { live[slot.address] = use == Use::allocate; });
  writer_.begin_list();
  for (const auto* slots : {&weights_, &activations_, &temporaries_}) {
    for (const Slot& slot : *slots) write_segment(slot, live[slot.address]);
  }
  writer_.end_list();
}

void Generator::write_segment(const Slot& slot, bool live) {
  const auto number = [&](std::string_view key, std::int64_t value) {
    writer_.key(key);
    writer_.integer(value);
  };
  writer_.begin_dict();
  number("device", 0);
  number("address", slot.address);
  number("total_size", slot.segment_size);
  number("allocated_size", live ? slot.segment_size : 0);
  number("active_size", live ? slot.segment_size : 0);
  number("requested_size", live ? slot.requested : 0);
  number("stream", run_.stream);
  writer_.key("segment_type");
  writer_.text("large");
  writer_.key("segment_pool_id");
  writer_.pair(0, 0);
  writer_.key("is_expandable");
  writer_.boolean(false);
  writer_.key("frames");
  last_frames_.reset();
  write_frames(slot.stack);
  writer_.key("blocks");
  writer_.begin_list();
  writer_.begin_dict();
  number("address", slot.address);
  number("size", slot.segment_size);
  number("requested_size", slot.requested);
  writer_.key("state");
  writer_.text(live ? "active_allocated" : "inactive");
  writer_.key("frames");
  write_frames(slot.stack);
  writer_.end_dict();
  writer_.end_list();
  writer_.end_dict();
}

void Generator::write_entry(std::string_view action, const Slot& slot) {
  writer_.begin_dict();
  writer_.key("action");
  writer_.text(action);
  writer_.key("addr");
  writer_.integer(slot.address);
  writer_.key("size");
  writer_.integer(slot.requested);
  writer_.key("stream");
  writer_.integer(run_.stream);
  if (!run_.npu) {
    writer_.key("time_us");
    writer_.integer(time_us_ += 7);
  }
  writer_.key("frames");
  write_frames(action == "alloc" ? slot.stack : run_.stacks + slot.stack);
  writer_.end_dict();
}

void Generator::write_frames(int stack) {
  if (last_frames_) {
    writer_.again(*last_frames_);
    return;
  }
  last_frames_ = writer_.begin_list();
  // Innermost first: a few frames of its own, then those that every stack ends in.
  const int own = run_.depth - run_.shared_frames;
  const int outer = stack < 2 * run_.stacks ? 0 : run_.weights_outer;
  for (int i = 0; i < own; ++i) write_frame(1000 + stack * 3 + i);
  for (int i = 0; i < run_.shared_frames; ++i) write_frame(outer + i);
  writer_.end_list();
}

void Generator::write_frame(int number) {
  if (const auto known = frames_.find(number); known != frames_.end()) {
    writer_.again(known->second);
    return;
  }
  frames_[number] = writer_.begin_dict();
  writer_.key("name");
  writer_.text(fmt::format("function_{}", number));
  writer_.key("filename");
  writer_.text(fmt::format("/opt/train/lib/python3.11/site-packages/model/part_{}.py", number / 8));
  writer_.key("line");
  writer_.integer(number);
  writer_.end_dict();
}

void Generator::write_settings() {
  writer_.key("allocator_settings");
  writer_.begin_dict();
  writer_.key("PYTORCH_CUDA_ALLOC_CONF");
  writer_.text("");
  writer_.key("max_split_size");
  writer_.integer(-1);
  writer_.key("garbage_collection_threshold");
  writer_.real(0.0);
  writer_.key("expandable_segments");
  writer_.boolean(false);
  writer_.key("roundup_power2_divisions");
  writer_.begin_dict();
  for (int size = 1; size <= 32768; size *= 2) {
    writer_.key(std::to_string(size));
    writer_.integer(0);
  }
  writer_.end_dict();
  writer_.end_dict();
  writer_.key("external_annotations");
  writer_.begin_list();
  writer_.end_list();
}

}  // namespace

void generate_snapshot(const SnapshotSize& size, std::ostream& out) {
  Generator{size, out}.write();
}

}  // namespace fragcast
