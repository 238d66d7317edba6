#include <fmt/format.h>

#include <charconv>
#include <string>
#include <vector>

#include "replay/cli/commands/shared.hpp"
#include "replay/report/tune_json.hpp"
#include "replay/report/tune_text.hpp"
#include "replay/search/tune.hpp"

namespace fragcast {
namespace {

Objective objective_of(const OwnValues& own) {
  const std::string word = own.text("objective").value_or("memory");
  if (word == "memory") return Objective::memory;
  if (word == "time") return Objective::time;
  if (word == "balanced") return Objective::balanced;
  throw UsageError{fmt::format("--objective {}: choose one of memory, time, balanced", word)};
}

std::size_t points_of(const OwnValues& own) {
  const std::optional<std::string> text = own.text("points");
  if (!text) return TuneOptions{}.points;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc{} || end != text->data() + text->size() || number == 0) {
    throw UsageError{fmt::format("--points {}: a number of simulations, from 1", *text)};
  }
  return number;
}

TuneOptions tune_options(const Options& options) {
  if (options.compare.device_memory.size() > 1) {
    throw UsageError{"--device-memory: fragcast tune takes one size"};
  }
  return {.run = options.compare,
          .objective = objective_of(options.own),
          .keys = options.own.has("all-keys") ? SettingKeys::all : SettingKeys::usual,
          .empty_cache = options.own.has("with-empty-cache") ? EmptyCacheSearch::several_places
                                                             : EmptyCacheSearch::as_given,
          .points = points_of(options.own)};
}

ExitStatus run_tune(const Options& options, Console& console) {
  const TuneOptions wanted = tune_options(options);
  Result json{options.json, console.out};
  Progress progress{console.err, console.progress(options.verbosity)};
  const std::vector<Subject> subjects = load_all(options, progress);
  progress.now("searching for the best setting");
  const Tuning tuning = tune(subjects, wanted);
  json.write([&](std::ostream& out) { write_json(tuning, out); });
  if (!json.takes_standard_output()) {
    const TextDetail detail =
        options.verbosity == Verbosity::quiet ? TextDetail::verdict_only : TextDetail::full;
    write_text(tuning, detail, console.emphasis(options.color), console.out);
  }
  return ExitStatus::fine;
}

}  // namespace

Command tune_command() {
  return {.syntax = {.name = "tune",
                     .usage = "TRACE... [options]",
                     .summary = "search for the best setting, as a line to paste",
                     .explanation =
                         "Tries the settings that the allocator takes, with values from the "
                         "traces' own sizes, and recommends the best\ncommon one: what it saves "
                         "and costs, whether that holds elsewhere, and which advice would do "
                         "harm.\nSeveral traces (ranks, jobs): the worst case counts first.\n"
                         "Example: fragcast tune snapshot.pickle --device-memory 60GiB\n",
                     .settings = SettingsArgument::several,
                     .changes_trace = true,
                     .prices_calls = true,
                     .has_threads = true,
                     .writes_json = true,
                     .own = {{.name = "objective",
                              .argument = "memory|time|balanced",
                              .help = "least peak reserved (default), least device time, or least "
                                      "time within 5 % of the least peak"},
                             {.name = "with-empty-cache",
                              .argument = "",
                              .help = "also search for where to call empty_cache"},
                             {.name = "all-keys",
                              .argument = "",
                              .help = "also roundup divisions, pages of 1 GiB, base alignment and "
                                      "lazy reclaim"},
                             {.name = "points",
                              .argument = "N",
                              .help = "try at most so many (default: 300)"}}},
          .run = run_tune};
}

}  // namespace fragcast
