#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "sim/core/bytes.hpp"

namespace fragcast {

using Microseconds = std::chrono::duration<double, std::micro>;

/// The kinds of device call that take time. Some vendors make several of them in one.
enum class DeviceCall : std::uint8_t {
  segment_alloc,
  segment_free,
  range_reserve,
  range_release,
  page_create,
  page_destroy,
  page_map,
  access_set,  ///< once for each stretch mapped
  page_unmap,
  event_record,
  event_query,
  sync,  ///< of an idle device: what is waited for has no price
};
inline constexpr std::size_t device_call_kinds = 12;

/// A kind of call, as price files and people name it.
struct DeviceCallName {
  DeviceCall call = DeviceCall::segment_alloc;
  std::string_view name;
  /// The functions of the two runtimes.
  std::string_view cuda;
  std::string_view ascend;
};
[[nodiscard]] std::span<const DeviceCallName, device_call_kinds> device_call_names();

/// How a price is to be taken: the least and the most that the sources allow, and between.
enum class PriceLevel : std::uint8_t { low, mid, high };

/// Whether the call itself waits for the device's work, unseen by the allocator.
enum class CallWaits : std::uint8_t { no, yes };

/// What calls of one kind take: a fixed part each, and a part that grows with the memory.
struct Price {
  double fixed_us = 0;
  double us_per_mib = 0;
  /// Low is the mid price divided by the one, high is it times the other.
  double low_divisor = 1;
  double high_factor = 1;
  CallWaits waits = CallWaits::no;

  /// Of `count` calls about `size` bytes in all.
  [[nodiscard]] Microseconds of(std::int64_t count, Bytes size, PriceLevel level) const;
  bool operator==(const Price&) const = default;
};

/// A price for each kind of call.
struct PriceList {
  std::array<Price, device_call_kinds> prices{};

  [[nodiscard]] constexpr const Price& operator[](DeviceCall call) const {
    return prices[static_cast<std::size_t>(call)];
  }
  [[nodiscard]] constexpr Price& operator[](DeviceCall call) {
    return prices[static_cast<std::size_t>(call)];
  }
  bool operator==(const PriceList&) const = default;
};

/// What prices rest on.
enum class PriceBasis : std::uint8_t {
  sources,  ///< published measurements, some of them fitted or interpolated
  guess,    ///< nothing was published for this device
};

/// Whose functions a device's memory comes from.
enum class DeviceRuntime : std::uint8_t { cuda, ascend };

/// A device by name: what it holds and what calls on it take, as plain data.
struct KnownDevice {
  std::string_view name;
  /// For people: which cards these are, and what the prices rest on.
  std::string_view summary;
  DeviceRuntime runtime = DeviceRuntime::cuda;
  /// As an allocator is told; less than the data sheet says. Absent: not known.
  std::optional<Bytes> total;
  /// What of it is free when a process starts: others hold the rest. Absent: not known.
  std::optional<Bytes> free_at_start;
  PriceBasis basis = PriceBasis::guess;
  PriceList prices;
};

/// All of them, in the order in which they are listed.
[[nodiscard]] std::span<const KnownDevice> known_devices();
/// The device of that name, or null.
[[nodiscard]] const KnownDevice* find_known_device(std::string_view name);

}  // namespace fragcast
