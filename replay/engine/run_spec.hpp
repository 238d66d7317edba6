#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policies/registry.hpp"
#include "sim/core/bytes.hpp"
#include "sim/core/strong_id.hpp"

namespace fragcast {

/// One event of a trace, by its index in Trace::events.
using EventIndex = StrongId<struct EventTag>;

/// What a replay does when a request cannot be served.
enum class OnOom : std::uint8_t {
  carry_on,  ///< later calls on that allocation are skipped
  stop,
};

/// How the heap that a trace began with comes to be.
enum class Start : std::uint8_t {
  empty,               ///< there was none
  warm,                ///< rebuilt as recorded, device addresses included
  cold,                ///< its live blocks placed by the model, in order of address per stream
  cold_largest_first,  ///< likewise, the largest of each stream first
};

/// Where the device places memory.
enum class DeviceAddresses : std::uint8_t {
  simulated,
  recorded,  ///< as the recording has it, as long as what is asked for agrees
};

/// One simulation to be made of a trace. What is absent is as the trace's own conditions say.
struct RunSpec {
  /// What people call this run; free text.
  std::string name;
  /// Never null.
  const ModelEntry* model = nullptr;
  /// Of the model; null for its default.
  const ModelRelease* release = nullptr;
  std::optional<std::string> settings;
  std::optional<Bytes> device_memory;
  /// What of the device's memory others hold. Of no effect where the device never runs out.
  Bytes others;
  std::optional<double> fraction;
  std::optional<Soc> soc;
  OnOom on_oom = OnOom::carry_on;
  /// For a trace that began with a heap: warm or one of the cold ones. A trace that did not always
  /// starts empty. Warm also means that the device hands out the recorded addresses.
  Start start = Start::cold;
};

/// Conditions with every choice made: what one simulation runs under.
struct RunConditions {
  const ModelEntry* model = nullptr;
  /// Null for the model's default.
  const ModelRelease* stated_release = nullptr;
  std::string settings;
  /// Absent: the device never runs out, and the allocator is told that it has 64 GiB.
  std::optional<Bytes> device_memory;
  Bytes others;
  /// Set once the allocator has started.
  std::optional<double> fraction;
  Soc soc = Soc::ascend910b;
  bool instant_events = true;
  Start start = Start::empty;
  DeviceAddresses addresses = DeviceAddresses::simulated;

  [[nodiscard]] const ModelRelease& release() const {
    return stated_release != nullptr ? *stated_release : model->default_release();
  }
  /// The memory that the allocator believes the device to have.
  [[nodiscard]] Bytes device_total() const { return device_memory.value_or(64_GiB); }
};

/// By the names of call scripts: `ascend910b`, `ascend950`.
[[nodiscard]] std::optional<Soc> find_soc(std::string_view name);
[[nodiscard]] std::string_view name_of(Soc soc);

struct Trace;

/// What `spec` comes to for `trace`. A soc of the trace that is none of ours is an InputError.
[[nodiscard]] RunConditions resolve_conditions(const Trace& trace, const RunSpec& spec);

}  // namespace fragcast
