#pragma once

#include <string>
#include <variant>

#include "sim/core/strong_id.hpp"

namespace fragcast {

/// The calls on an allocator that are neither an allocation nor a free. Rare beside those, so they
/// travel as one variant through one virtual function.
namespace control {

/// Gives cached memory back to the device.
struct EmptyCache {};
/// As EmptyCache, but pages stay cached as physical handles (expandable segments only).
struct EmptyVirtualAddressCache {};
/// Waits for all the device's work: every event completes.
struct Synchronize {};
/// Takes `stream` off the recorded streams of `allocation`, if `owner` is the block's own stream.
struct EraseStream {
  AllocationId allocation;
  StreamId owner;
  StreamId stream;
};
/// Makes a private pool and takes the first reference to it.
struct PoolCreate {
  PoolId pool;
};
/// Opens a scope: takes a reference, and allocations go to the pool until the scope ends.
struct PoolBegin {
  PoolId pool;
};
/// Closes the latest open scope of the pool. Drops no reference.
struct PoolEnd {
  PoolId pool;
};
/// Drops a reference; at none the pool is freeable.
struct PoolRelease {
  PoolId pool;
};
/// Gives back the cached memory of one pool, if it is freeable.
struct PoolEmpty {
  PoolId pool;
};
/// Lets allocations that found no memory elsewhere use the pool's free blocks.
struct PoolUseOnOom {
  PoolId pool;
  bool enabled = true;
};
/// Blocks of the pool are handed out whole.
struct PoolNoSplit {
  PoolId pool;
  bool enabled = true;
};
/// A graph capture opens: no events are processed until it ends.
struct CaptureBegin {};
struct CaptureEnd {};
/// A settings string applied at run time.
struct ChangeSettings {
  std::string text;
};
/// Limits the allocator to a fraction (0..1) of the device's total.
struct SetFraction {
  double fraction = 1.0;
};
/// Every peak becomes the current value.
struct ResetPeak {};
/// Cumulative counts return to zero.
struct ResetAccumulated {};

}  // namespace control

using Control = std::variant<control::EmptyCache,
                             control::EmptyVirtualAddressCache,
                             control::Synchronize,
                             control::EraseStream,
                             control::PoolCreate,
                             control::PoolBegin,
                             control::PoolEnd,
                             control::PoolRelease,
                             control::PoolEmpty,
                             control::PoolUseOnOom,
                             control::PoolNoSplit,
                             control::CaptureBegin,
                             control::CaptureEnd,
                             control::ChangeSettings,
                             control::SetFraction,
                             control::ResetPeak,
                             control::ResetAccumulated>;

/// Why a model did not carry out a control call; empty when it did.
using ControlRefusal = std::string;

}  // namespace fragcast
