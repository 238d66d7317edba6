#include "replay/engine/run_spec.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "replay/formats/input_error.hpp"
#include "replay/trace/trace.hpp"
#include "sim/core/check.hpp"

namespace fragcast {
namespace {

constexpr std::array<std::pair<Soc, std::string_view>, 2> soc_names{
    {{Soc::ascend910b, "ascend910b"}, {Soc::ascend950, "ascend950"}}};

Soc soc_of(const Conditions& conditions) {
  if (!conditions.soc) return Soc::ascend910b;
  const std::optional<Soc> soc = find_soc(*conditions.soc);
  if (!soc) {
    throw InputError{{},
                     fmt::format("the chip '{}' is unknown; known are {} and {}",
                                 *conditions.soc,
                                 soc_names[0].second,
                                 soc_names[1].second)};
  }
  return *soc;
}

}  // namespace

std::optional<Soc> find_soc(std::string_view name) {
  for (const auto& [soc, soc_name] : soc_names) {
    if (soc_name == name) return soc;
  }
  return std::nullopt;
}

std::string_view name_of(Soc soc) {
  for (const auto& [named, name] : soc_names) {
    if (named == soc) return name;
  }
  return {};
}

RunConditions resolve_conditions(const Trace& trace, const RunSpec& spec) {
  FRAGCAST_CHECK(spec.model != nullptr, "a run without a model");
  const Conditions& recorded = trace.conditions;
  return {
      .model = spec.model,
      .stated_release = spec.release,
      .settings = spec.settings ? *spec.settings : recorded.settings.value_or(""),
      .device_memory = spec.device_memory ? spec.device_memory : recorded.device_memory,
      .others = spec.others,
      .fraction = spec.fraction ? spec.fraction : recorded.fraction,
      .soc = spec.soc ? *spec.soc : soc_of(recorded),
      .instant_events = recorded.instant_events,
      .start = trace.initial.empty() ? Start::empty : spec.start,
      .addresses =
          spec.start == Start::warm ? DeviceAddresses::recorded : DeviceAddresses::simulated,
  };
}

}  // namespace fragcast
