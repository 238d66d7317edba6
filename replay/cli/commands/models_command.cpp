#include <fmt/format.h>

#include "policies/registry.hpp"
#include "replay/cli/command.hpp"

namespace fragcast {
namespace {

void write_release(const ModelEntry& model, const ModelRelease& release, std::ostream& out) {
  const bool is_default = &release == &model.default_release();
  out << fmt::format("  release {}{}{}\n    {}\n",
                     release.name,
                     is_default ? " (default)" : "",
                     release.evidence == Evidence::source ? " (unverified: no recordings)" : "",
                     release.summary);
  const std::vector<ModelOption> options = options_of(release);
  if (!options.empty()) out << fmt::format("    settings, as in {}:\n", model.variable);
  for (const ModelOption& option : options) {
    out << fmt::format(
        "      {:<32} {}{}\n",
        option.key,
        option.meaning,
        option.default_value.empty() ? "" : fmt::format(" (default: {})", option.default_value));
  }
}

ExitStatus run_models(const Options&, Console& console) {
  for (const ModelEntry& model : all_models()) {
    console.out << fmt::format("{}\n  {}\n", model.name, model.summary);
    for (const ModelRelease& release : model.releases) write_release(model, release, console.out);
  }
  return ExitStatus::fine;
}

}  // namespace

Command models_command() {
  return {.syntax = {.name = "models",
                     .usage = "",
                     .summary = "the allocator models and their options",
                     .explanation = "Lists the allocators that can be simulated, and what "
                                    "their settings strings accept.\n",
                     .files = FileArguments::none},
          .run = run_models};
}

}  // namespace fragcast
