#include "tests/support/toy_model.hpp"

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "sim/core/check.hpp"

namespace fragcast {
namespace {

class ToyModel final : public AllocatorModel {
 public:
  explicit ToyModel(Device& device) : device_{device} {}

  [[nodiscard]] Layout layout() const override {
    Layout heap;
    for (const auto& [address, block] : blocks_) {
      const bool live = block.state == BlockState::allocated;
      heap.segments.push_back({.address = address,
                               .size = block.facts.size,
                               .stream = block.facts.stream,
                               .kind = block.facts.kind,
                               .pool = block.facts.pool,
                               .range = std::nullopt,
                               .page_size = Bytes{0},
                               .flush = live ? FlushRule::passes_over : FlushRule::returns,
                               .blocks = {{.address = address,
                                           .size = block.facts.size,
                                           .requested = block.facts.requested,
                                           .state = block.state,
                                           .allocation = block.id}}});
    }
    return heap;
  }
  [[nodiscard]] CacheInfo cache_info() const override { return {}; }
  void check() const override {
    Bytes sum;
    for (const auto& [address, block] : blocks_) sum += block.facts.size;
    FRAGCAST_CHECK(sum.count() == statistics().reserved_bytes.all.current, "reserved is off");
  }

 protected:
  AllocateOutcome do_allocate(const AllocateRequest& request) override {
    free_completed();
    const Bytes size = round_up(request.size, 2_MiB);
    const std::optional<Address> address = device_.allocate_segment(size, 2_MiB);
    if (!address) {
      ledger().out_of_memory(size, device_.free(), request.stream, pool_);
      return OutOfMemory{.requested = request.size,
                         .tried = size,
                         .device_free = device_.free(),
                         .rejected = false,
                         .message = "toy out of memory"};
    }
    add({.id = request.id,
         .facts = {.address = *address,
                   .size = size,
                   .requested = request.size,
                   .stream = request.stream,
                   .kind = PoolKind::large,
                   .pool = pool_}});
    return Placement{.address = *address, .size = size};
  }

  void do_deallocate(AllocationId id) override {
    Block& block = blocks_.at(address_of_.at(id));
    ledger().free_requested(block.facts);
    if (block.streams.empty()) return release(id);
    block.state = BlockState::pending;
    for (const StreamId stream : block.streams)
      block.events.push_back(device_.record_event(stream));
  }

  void do_record_stream(AllocationId id, StreamId stream) override {
    blocks_.at(address_of_.at(id)).streams.push_back(stream);
  }

  ControlRefusal do_apply(const Control& call) override {
    if (const auto* begin = std::get_if<control::PoolBegin>(&call)) pool_ = begin->pool;
    if (std::holds_alternative<control::PoolEnd>(call)) pool_ = PoolId{};
    if (std::holds_alternative<control::ResetPeak>(call)) ledger().counters().reset_peak();
    if (std::holds_alternative<control::ResetAccumulated>(call)) {
      ledger().counters().reset_accumulated();
    }
    if (std::holds_alternative<control::Synchronize>(call)) {
      device_.synchronize();
      free_completed();
    }
    if (std::holds_alternative<control::EmptyVirtualAddressCache>(call)) {
      return "there are no addresses to cache";
    }
    return {};
  }

  ControlRefusal do_restore(const Layout& heap) override {
    for (const SegmentPicture& segment : heap.segments) {
      if (segment.blocks.size() != 1) return "a toy segment has one block";
      const BlockPicture& block = segment.blocks.front();
      device_.adopt(segment.extent(), segment.size);
      add({.id = block.allocation.value(),
           .facts = {.address = segment.address,
                     .size = segment.size,
                     .requested = block.requested,
                     .stream = segment.stream,
                     .kind = segment.kind,
                     .pool = segment.pool}});
    }
    return {};
  }

 private:
  struct Block {
    AllocationId id;
    BlockFacts facts;
    BlockState state = BlockState::allocated;
    std::vector<StreamId> streams{};
    std::vector<DeviceEvent> events{};
  };

  [[nodiscard]] static ReservationFacts segment_of(const BlockFacts& block) {
    return {.extent = {block.address, block.size},
            .stream = block.stream,
            .kind = block.kind,
            .pool = block.pool};
  }

  void add(const Block& block) {
    ledger().segment_allocated(segment_of(block.facts));
    ledger().allocated(block.facts);
    address_of_[block.id] = block.facts.address;
    blocks_[block.facts.address] = block;
  }

  void release(AllocationId id) {
    const BlockFacts facts = blocks_.at(address_of_.at(id)).facts;
    ledger().free_completed(facts);
    ledger().segment_freed(segment_of(facts));
    device_.free_segment({facts.address, facts.size}, 2_MiB);
    blocks_.erase(facts.address);
    address_of_.erase(id);
  }

  void free_completed() {
    std::vector<AllocationId> done;
    for (const auto& [address, block] : blocks_) {
      bool all_done = block.state == BlockState::pending;
      for (const DeviceEvent event : block.events) all_done = all_done && device_.is_done(event);
      if (all_done) done.push_back(block.id);
    }
    for (const AllocationId id : done) release(id);
  }

  Device& device_;
  PoolId pool_;
  std::map<Address, Block> blocks_;
  std::map<AllocationId, Address> address_of_;
};

MadeModel make_toy(const ModelSpec& spec, Device& device) {
  if (spec.settings == "refused") {
    return {.model = nullptr, .refusal = "a toy refuses these settings", .warnings = {}};
  }
  MadeModel made{.model = std::make_unique<ToyModel>(device), .refusal = {}, .warnings = {}};
  if (spec.settings == "odd") made.warnings.emplace_back("odd settings");
  return made;
}

constexpr std::array releases{
    ModelRelease{.name = "1", .summary = "the only one", .make = make_toy},
};

constexpr ModelEntry entry{
    .name = "toy",
    .summary = "a segment for each request",
    .vendor = Vendor::npu,
    .variable = "TOY_CONF",
    .releases = releases,
};

}  // namespace

const ModelEntry& toy_model() { return entry; }

}  // namespace fragcast
