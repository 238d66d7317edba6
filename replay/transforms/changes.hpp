#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "replay/engine/run_spec.hpp"
#include "replay/transforms/emptying.hpp"
#include "replay/transforms/without.hpp"

namespace fragcast {

/// What becomes of the `empty_cache` calls of a recording.
struct KeepEmptyCache {};
struct DropEmptyCache {};
/// Dropped, and called there instead.
struct EmptyCacheAt {
  std::vector<Emptying> emptyings;
};
using EmptyCachePlan = std::variant<KeepEmptyCache, DropEmptyCache, EmptyCacheAt>;

/// What is to be other than in the trace, in the order in which it is changed.
struct TraceChanges {
  std::vector<WithoutSite> without;
  /// Numbers of steps, as the unchanged trace counts them.
  std::vector<std::size_t> dropped_steps;
  EmptyCachePlan empty_cache;

  /// Whether the result depends on the run: on its settings and its device.
  [[nodiscard]] bool depend_on_run() const;
};

/// A trace with changes, and what became of its `empty_cache` calls: `keep`, `drop`, or the
/// emptyings where they are made instead, as `--empty-cache-at` takes them.
struct ChangedTrace {
  /// Null where nothing was changed.
  std::shared_ptr<const Trace> trace;
  std::string empty_cache = "keep";
};

/// Throws InputError for a change that the trace has no place for.
[[nodiscard]] ChangedTrace change(const Trace& trace,
                                  const TraceChanges& changes,
                                  const RunSpec& spec);

}  // namespace fragcast
