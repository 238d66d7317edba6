#include "sim/device/prices.hpp"

#include <algorithm>

namespace fragcast {
namespace {

using enum DeviceCall;

constexpr std::array<DeviceCallName, device_call_kinds> call_names{{
    {segment_alloc, "segment_alloc", "cudaMalloc", "aclrtMalloc"},
    {segment_free, "segment_free", "cudaFree", "aclrtFree"},
    {range_reserve, "range_reserve", "cuMemAddressReserve", "aclrtReserveMemAddress"},
    {range_release, "range_release", "cuMemAddressFree", "aclrtReleaseMemAddress"},
    {page_create, "page_create", "cuMemCreate", "aclrtMallocPhysical"},
    {page_destroy, "page_destroy", "cuMemRelease", "aclrtFreePhysical"},
    {page_map, "page_map", "cuMemMap", "aclrtMapMem"},
    {access_set, "access_set", "cuMemSetAccess", "none"},
    {page_unmap, "page_unmap", "cuMemUnmap", "aclrtUnmapMem"},
    {event_record, "event_record", "cudaEventRecord", "aclrtRecordEvent"},
    {event_query, "event_query", "cudaEventQuery", "aclrtQueryEventStatus"},
    {sync, "sync", "cudaDeviceSynchronize", "aclrtSynchronizeDevice"},
}};

// Datacentre cards of CUDA. Only the A100 has microbenchmarks of the virtual memory calls:
// * Create, Map, SetAccess, Unmap, Release, AddressReserve at 2 MiB: vAttention (arXiv 2405.04437),
//   Table 3: 29, 2, 38, 34, 23, 2 us; AddressFree 1 us. kvcached (ovg-project/kvcached,
//   benchmarks/bench_vmm) on an A100: Create 193 us (the high end), Map 1.45, SetAccess 36, Unmap
//   26, AddressReserve 19 us.
// * Create by size: the three chunk sizes of GMLake (arXiv 2401.08156), Table 1, on an A100.
// * Its ratios put a cudaMalloc of 2 GiB at 1.6 to 2.9 ms: 1.2 us per MiB. The fixed 150 us are
// from
//   ayush-os/nsight-systems-deep-dive (A100, 167 us at most).
// * SetAccess by size: 0.6 (GMLake), 2.8 (kvcached on L40S, all four calls), 4.7 us per MiB (GB10).
// * What cudaFree, Unmap and Release take per MiB has no source: guessed, as are the factors.
// * Events and an idle synchronisation: pytorch PR 78279, TornadoVM's and the above notes.
// cudaFree waits for the device (CuPy PR 2898); cudaMalloc was not seen to.
constexpr PriceList cuda_prices() {
  PriceList list;
  list[segment_alloc] = {.fixed_us = 150, .us_per_mib = 1.2, .low_divisor = 3, .high_factor = 5};
  list[segment_free] = {.fixed_us = 60,
                        .us_per_mib = 1.0,
                        .low_divisor = 4,
                        .high_factor = 5,
                        .waits = CallWaits::yes};
  list[range_reserve] = {.fixed_us = 10, .low_divisor = 5, .high_factor = 2};
  list[range_release] = {.fixed_us = 1, .low_divisor = 2, .high_factor = 2};
  list[page_create] = {.fixed_us = 28, .us_per_mib = 0.6, .low_divisor = 4, .high_factor = 7};
  list[page_destroy] = {.fixed_us = 23, .us_per_mib = 0.3, .low_divisor = 3, .high_factor = 3};
  list[page_map] = {.fixed_us = 2, .low_divisor = 2, .high_factor = 2};
  list[access_set] = {.fixed_us = 35, .us_per_mib = 1.5, .low_divisor = 2, .high_factor = 4};
  list[page_unmap] = {.fixed_us = 30, .us_per_mib = 0.5, .low_divisor = 3, .high_factor = 3};
  list[event_record] = {.fixed_us = 1, .low_divisor = 3, .high_factor = 3};
  list[event_query] = {.fixed_us = 0.5, .low_divisor = 3, .high_factor = 3};
  list[sync] = {.fixed_us = 3, .low_divisor = 3, .high_factor = 3};
  return list;
}

// Nothing is published on what CANN's calls take: these are guesses, right within a factor of ten
// at best. What shapes them: CANN's documentation says that neither aclrtMalloc nor aclrtFree waits
// (7.0 and later), torch_npu synchronises by itself, there is no call that sets access rights, and
// msprof-analyze flags a run in which such calls take more than 10 ms.
constexpr PriceList ascend_prices() {
  PriceList list;
  list[segment_alloc] = {.fixed_us = 300, .us_per_mib = 2};
  list[segment_free] = {.fixed_us = 200, .us_per_mib = 1};
  list[range_reserve] = {.fixed_us = 10};
  list[range_release] = {.fixed_us = 1};
  list[page_create] = {.fixed_us = 60, .us_per_mib = 1};
  list[page_destroy] = {.fixed_us = 40, .us_per_mib = 0.5};
  list[page_map] = {.fixed_us = 40, .us_per_mib = 0.5};
  list[page_unmap] = {.fixed_us = 40, .us_per_mib = 0.5};
  list[event_record] = {.fixed_us = 3};
  list[event_query] = {.fixed_us = 3};
  list[sync] = {.fixed_us = 10};
  for (Price& price : list.prices) price.low_divisor = price.high_factor = 10;
  return list;
}

/// Another device's prices: each so many times as high, and so many times less sure.
struct Scale {
  double times = 1;
  double less_sure = 1;
};
constexpr PriceList scaled(PriceList list, const Scale& scale) {
  for (Price& price : list.prices) {
    price.fixed_us *= scale.times;
    price.us_per_mib *= scale.times;
    price.low_divisor *= scale.less_sure;
    price.high_factor *= scale.less_sure;
  }
  return list;
}

// A caller that maps while kernels run has to wait for them first: kvcached PR 465.
constexpr PriceList v100_prices() {
  PriceList list = scaled(cuda_prices(), {.times = 1.5, .less_sure = 4});
  list[access_set].waits = CallWaits::yes;
  return list;
}

// Fitted to kvcached, benchmarks/bench_map_parallelism: Unmap, Create, Map and SetAccess together
// 165 us at 2 MB and 521 us at 128 MB.
constexpr PriceList l40s_prices() {
  PriceList list = scaled(cuda_prices(), {.less_sure = 2});
  list[page_create].fixed_us = 92;
  list[access_set].us_per_mib = 1.7;
  return list;
}

// Fitted to kvcached, benchmarks/bench_layout: Map and SetAccess together 33 us at 2 MB and 325 us
// at 64 MB.
constexpr PriceList gb10_prices() {
  PriceList list = scaled(cuda_prices(), {.less_sure = 2});
  list[access_set].fixed_us = 22;
  list[access_set].us_per_mib = 4.7;
  return list;
}

constexpr std::string_view as_a100 = "nothing published: the A100's prices, less sure";
constexpr std::string_view ascend_guess = "no latency of CANN was ever published";

constexpr std::array devices{
    // vllm-ascend issues 1903, 556 and 1127 show a total of 60.96 to 60.97 GiB. What a process
    // finds
    // taken, 0.41 GiB, is from a log of a 910C (vllm-ascend PR 8289).
    KnownDevice{.name = "ascend910b",
                .summary = ascend_guess,
                .runtime = DeviceRuntime::ascend,
                .total = 62'423_MiB,
                .free_at_start = 62'003_MiB,
                .basis = PriceBasis::guess,
                .prices = ascend_prices()},
    // One of the two dies of a package: sglang issue 29838, vllm-ascend PR 8289.
    KnownDevice{.name = "ascend910c",
                .summary = ascend_guess,
                .runtime = DeviceRuntime::ascend,
                .total = 62'740_MiB,
                .free_at_start = 62'321_MiB,
                .basis = PriceBasis::guess,
                .prices = ascend_prices()},
    KnownDevice{.name = "ascend950",
                .summary = ascend_guess,
                .runtime = DeviceRuntime::ascend,
                .total = {},
                .free_at_start = {},
                .basis = PriceBasis::guess,
                .prices = ascend_prices()},
    // 80 GB: modal-client PR 2797, torchrec PR 3580, kvcached bench_vmm.
    KnownDevice{.name = "a100",
                .summary = "80 GB; microbenchmarks by others, some interpolated",
                .total = 81'050_MiB,
                .free_at_start = 80'589_MiB,
                .basis = PriceBasis::sources,
                .prices = cuda_prices()},
    // A card of 80 GB that is not named: vllm PR 10511.
    KnownDevice{.name = "h100",
                .summary = as_a100,
                .total = 81'121_MiB,
                .free_at_start = {},
                .basis = PriceBasis::guess,
                .prices = scaled(cuda_prices(), {.less_sure = 3})},
    // allenai/open-instruct PR 1441.
    KnownDevice{.name = "h200",
                .summary = as_a100,
                .total = 142'336_MiB,
                .free_at_start = {},
                .basis = PriceBasis::guess,
                .prices = scaled(cuda_prices(), {.less_sure = 3})},
    // sglang issue 25225.
    KnownDevice{.name = "b200",
                .summary = as_a100,
                .total = 182'682_MiB,
                .free_at_start = 181'965_MiB,
                .basis = PriceBasis::guess,
                .prices = scaled(cuda_prices(), {.less_sure = 3})},
    // A card of 16 GB that is not named: Morizeyao/GPT2-Chinese issue 104.
    KnownDevice{.name = "v100",
                .summary = "16 GB; nothing published: the A100's prices and half as much again",
                .total = 16'128_MiB,
                .free_at_start = {},
                .basis = PriceBasis::guess,
                .prices = v100_prices()},
    KnownDevice{.name = "l40s",
                .summary = "fitted to kvcached's benchmarks, the rest as for the A100",
                .total = {},
                .free_at_start = {},
                .basis = PriceBasis::sources,
                .prices = l40s_prices()},
    KnownDevice{.name = "gb10",
                .summary = "fitted to kvcached's benchmarks, the rest as for the A100",
                .total = {},
                .free_at_start = {},
                .basis = PriceBasis::sources,
                .prices = gb10_prices()},
    // ROCm 7.2 is reported not to free memory on unmapping: torch_memory_saver issue 83.
    KnownDevice{.name = "mi300x",
                .summary = "nothing published: twice the A100's prices, unsure by ten",
                .total = {},
                .free_at_start = {},
                .basis = PriceBasis::guess,
                .prices = scaled(cuda_prices(), {.times = 2, .less_sure = 10})},
};

}  // namespace

Microseconds Price::of(std::int64_t count, Bytes size, PriceLevel level) const {
  const double mid = fixed_us * static_cast<double>(count) +
                     us_per_mib * static_cast<double>(size.count()) / (1024.0 * 1024.0);
  switch (level) {
    case PriceLevel::low:
      return Microseconds{mid / low_divisor};
    case PriceLevel::mid:
      return Microseconds{mid};
    case PriceLevel::high:
      return Microseconds{mid * high_factor};
  }
  return {};
}

std::span<const DeviceCallName, device_call_kinds> device_call_names() { return call_names; }

std::span<const KnownDevice> known_devices() { return devices; }

const KnownDevice* find_known_device(std::string_view name) {
  const auto* found = std::find_if(
      devices.begin(), devices.end(), [name](const KnownDevice& d) { return d.name == name; });
  return found == devices.end() ? nullptr : found;
}

}  // namespace fragcast
