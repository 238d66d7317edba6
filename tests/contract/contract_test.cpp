// What every allocator model keeps to, whatever it decides. A model is held to it by being in the
// registry.

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <string>

#include "sim/core/check.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/properties.hpp"
#include "tests/support/situations.hpp"
#include "tests/support/transcript.hpp"

namespace fragcast {
namespace {

using Kind = EventResult::Kind;

/// Runs `test` for each model in each of its situations, as sections with their names.
template <class Test>
void for_each_situation(Test test) {
  for (const ModelEntry& model : all_models()) {
    for (const Situation& situation : situations_of(model)) {
      DYNAMIC_SECTION(model.name << ": " << situation.name) { test(model, situation.trials); }
    }
  }
}

/// Where the live allocations of a replay are.
class LivePlacements {
 public:
  std::string look(const Event& event, const EventResult& result) {
    if (event.kind == EventKind::deallocate && result.kind == Kind::done) forget(event.allocation);
    if (result.kind != Kind::placed) return {};
    const Placement& placed = result.placement;
    if (event.size == Bytes{0}) {
      return placed.address == Address{} && placed.size == Bytes{0} ? "" : "0 bytes have a place";
    }
    if (placed.size < event.size) {
      return fmt::format("{} bytes were placed in {}", event.size.count(), placed.size.count());
    }
    return add(event.allocation, {placed.address, placed.size});
  }

  [[nodiscard]] const std::map<Address, Bytes>& by_address() const { return by_address_; }

 private:
  std::string add(AllocationId id, Extent extent) {
    const auto after = by_address_.lower_bound(extent.begin);
    const bool meets_next = after != by_address_.end() && after->first < extent.end();
    const bool meets_previous = after != by_address_.begin() &&
                                std::prev(after)->first + std::prev(after)->second > extent.begin;
    if (meets_next || meets_previous) {
      return fmt::format("the block at {:#x} overlaps another", extent.begin.value());
    }
    by_address_[extent.begin] = extent.size;
    addresses_[id] = extent.begin;
    return {};
  }

  void forget(AllocationId id) {
    const auto found = addresses_.find(id);
    if (found == addresses_.end()) return;  // of 0 bytes
    by_address_.erase(found->second);
    addresses_.erase(found);
  }

  std::map<Address, Bytes> by_address_;
  std::map<AllocationId, Address> addresses_;
};

/// The live blocks that a layout shows.
std::map<Address, Bytes> allocated_blocks(const Layout& layout) {
  std::map<Address, Bytes> blocks;
  for (const SegmentPicture& segment : layout.segments) {
    for (const BlockPicture& block : segment.blocks) {
      if (block.state == BlockState::allocated) blocks[block.address] = block.size;
    }
  }
  return blocks;
}

std::string check_order_of_amounts(const Usage& usage) {
  if (usage.allocated < Bytes{0} || usage.requested < Bytes{0}) return "an amount is negative";
  if (usage.allocated > usage.active) return "more is allocated than active";
  if (usage.requested > usage.active) return "more is requested than active";
  if (usage.active > usage.reserved) return "more is active than reserved";
  return {};
}

}  // namespace

TEST_CASE("live allocations are covered, apart, and shown by the layout", "[contract]") {
  for_each_situation([](const ModelEntry& model, const Trials& trials) {
    check_property(trials, [&](const Trace& trace) {
      LivePlacements live;
      return replay_looking(
          trace, model, [&](Session& session, const Event& event, const EventResult& result) {
            std::string wrong = live.look(event, result);
            if (wrong.empty() && allocated_blocks(session.model().layout()) != live.by_address()) {
              wrong = "the layout shows other live blocks than were handed out";
            }
            return wrong;
          });
    });
  });
}

TEST_CASE("reserved covers active covers allocated, within the device", "[contract]") {
  for_each_situation([](const ModelEntry& model, const Trials& trials) {
    check_property(trials, [&](const Trace& trace) {
      return replay_looking(
          trace, model, [&](Session& session, const Event&, const EventResult&) -> std::string {
            const Usage usage = current_usage(session.model().statistics());
            std::string wrong = check_order_of_amounts(usage);
            if (wrong.empty() && session.device().used() < usage.reserved) {
              wrong = "more is reserved than the device gave";
            }
            if (wrong.empty() && session.device().used() > session.device().total()) {
              wrong = "the device gave more than it has";
            }
            return wrong;
          });
    });
  });
}

TEST_CASE("an allocation that fails says why and changes nothing that is live", "[contract]") {
  for_each_situation([](const ModelEntry& model, const Trials& trials) {
    check_property(trials, [&](const Trace& trace) {
      Usage before;
      return replay_looking(
          trace,
          model,
          [&](Session& session, const Event& event, const EventResult& result) -> std::string {
            const Usage after = current_usage(session.model().statistics());
            const bool failed = result.kind == Kind::out_of_memory;
            const bool lost = failed && after.allocated != before.allocated;
            before = after;
            if (!failed) return {};
            if (session.model().is_live(event.allocation)) return "a failed allocation is live";
            if (session.last_oom().message.empty()) return "a failure without a message";
            return lost ? "a failure changed what is allocated" : "";
          });
    });
  });
}

TEST_CASE("all freed and emptied returns to zero", "[contract]") {
  for_each_situation([](const ModelEntry& model, Trials trials) {
    // The last handles of a pool that is forgotten with cached pages are lost upstream too.
    if (trials.shape.empty_virtual_caches) return;
    trials.shape.winds_down = true;
    check_property(trials, [&](const Trace& trace) -> std::string {
      Session session{trace, conditions_of(trace, model)};
      session.run_to(trace.events.size());
      session.model().check();
      // A shrunk trace may have lost its winding down.
      if (current_usage(session.model().statistics()).allocated > Bytes{0}) return {};
      static_cast<void>(session.model().apply(control::EmptyCache{}));
      if (current_usage(session.model().statistics()) != Usage{}) return "memory is left";
      if (!session.model().layout().empty()) return "the layout is not empty";
      return session.device().used() == Bytes{0} ? "" : "the device did not get everything back";
    });
  });
}

TEST_CASE("the same trace twice gives the same run", "[contract]") {
  for_each_situation([](const ModelEntry& model, const Trials& trials) {
    check_property(trials, [&](const Trace& trace) {
      return is_same(transcript_of(trace, model), transcript_of(trace, model)) ? ""
                                                                               : "the runs differ";
    });
  });
}

TEST_CASE("a caller that breaks the rules is stopped", "[contract]") {
  for (const ModelEntry& model : all_models()) {
    DYNAMIC_SECTION(model.name) {
      Device device{DeviceProfile{}};
      const MadeModel made = model.default_release().make(ModelSpec{}, device);
      REQUIRE(made.model != nullptr);
      const AllocateRequest request{.id = AllocationId{0U}, .size = 1_MiB, .stream = StreamId{}};
      REQUIRE(std::holds_alternative<Placement>(made.model->allocate(request)));

      CHECK_THROWS_AS(made.model->allocate(request), InvariantError);
      CHECK_THROWS_AS(made.model->deallocate(AllocationId{1U}), InvariantError);
      CHECK_THROWS_AS(made.model->record_stream(AllocationId{1U}, StreamId{}), InvariantError);
      made.model->deallocate(AllocationId{0U});
      CHECK_THROWS_AS(made.model->deallocate(AllocationId{0U}), InvariantError);
    }
  }
}

TEST_CASE("every model has a name, a summary, and options that say what they do", "[contract]") {
  for (const ModelEntry& model : all_models()) {
    DYNAMIC_SECTION(model.name) {
      CHECK(find_model(model.name) == &model);
      CHECK_FALSE(model.summary.empty());
      for (const ModelRelease& release : model.releases) {
        CHECK(find_release(model, release.name) == &release);
        CHECK_FALSE(release.summary.empty());
        for (const ModelOption& option : options_of(release)) {
          CHECK_FALSE(option.key.empty());
          CHECK_FALSE(option.meaning.empty());
        }
        CHECK(same_settings(release, "", ""));
      }
    }
  }
}

}  // namespace fragcast
