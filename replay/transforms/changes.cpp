#include "replay/transforms/changes.hpp"

#include "replay/transforms/empty_cache.hpp"

namespace fragcast {
namespace {

InputPosition at_option(const char* option) { return {.file = option, .line = {}, .byte = {}}; }

}  // namespace

bool TraceChanges::depend_on_run() const {
  const auto* at = std::get_if<EmptyCacheAt>(&empty_cache);
  return at != nullptr && fragcast::depend_on_run(at->emptyings);
}

ChangedTrace change(const Trace& trace, const TraceChanges& changes, const RunSpec& spec) {
  ChangedTrace changed;
  const auto now = [&]() -> const Trace& { return changed.trace ? *changed.trace : trace; };
  const auto become = [&](Trace next) {
    changed.trace = std::make_shared<const Trace>(std::move(next));
  };
  for (const WithoutSite& without : changes.without) {
    become(without_site(now(), without, at_option("--without")));
  }
  for (const std::size_t step : changes.dropped_steps) {
    become(without_step(now(), step, at_option("--drop-step")));
  }
  if (std::holds_alternative<KeepEmptyCache>(changes.empty_cache)) return changed;
  become(replace_empty_cache(now(), {}).trace);
  changed.empty_cache = "drop";
  if (const auto* at = std::get_if<EmptyCacheAt>(&changes.empty_cache)) {
    become(replace_empty_cache(
               now(), positions_of(now(), at->emptyings, spec, at_option("--empty-cache-at")))
               .trace);
    changed.empty_cache = to_text(at->emptyings);
  }
  return changed;
}

}  // namespace fragcast
