#include <fmt/format.h>

#include <optional>
#include <vector>

#include "replay/cli/commands/shared.hpp"
#include "replay/compare/compare.hpp"
#include "replay/compare/verdict.hpp"
#include "replay/report/answers.hpp"
#include "replay/report/comparison_json.hpp"
#include "replay/report/expected.hpp"
#include "replay/report/printable.hpp"
#include "replay/report/series_csv.hpp"
#include "replay/report/snapshot_out.hpp"

namespace fragcast {
namespace {

void write_answers(const PreparedRun& prepared, std::ostream& out) {
  Session session{prepared.trace(), resolve_conditions(prepared.trace(), prepared.spec())};
  Answers answers{session};
  out << answers.conditions() << '\n';
  if (!session.refusal().empty()) return;
  while (!session.at_end()) {
    const Event& event = session.next();
    const EventResult result = session.step();
    if (Answers::is_call(event)) out << answers.call(event, result) << '\n';
  }
  out << answers.end() << '\n';
}

/// Whether the replay answers as the file does; says where it does not.
bool meets_expectation(const PreparedRun& prepared, const std::string& file, Console& console) {
  const AnswerComparison compared = compare_answers(
      prepared.trace(), resolve_conditions(prepared.trace(), prepared.spec()), file);
  if (compared.difference) {
    console.out << describe(*compared.difference) << '\n';
    return false;
  }
  console.out << fmt::format("all {} answers are as expected\n", compared.lines);
  return true;
}

void require_one(const std::vector<Subject>& subjects, const char* option) {
  if (subjects.size() == 1) return;
  throw UsageError{
      fmt::format("--{} is about one device of one trace, but there are {}; choose with --device",
                  option,
                  subjects.size())};
}

struct Results {
  Results(const Options& options, std::ostream& out)
      : json{options.json, out},
        csv{options.csv, out},
        answers{options.own.text("answers"), out},
        snapshot{options.own.text("snapshot-out"), out} {}

  [[nodiscard]] bool take_standard_output() const {
    return json.takes_standard_output() || csv.takes_standard_output() ||
           answers.takes_standard_output() || snapshot.takes_standard_output();
  }

  Result json;
  Result csv;
  Result answers;
  Result snapshot;
};

ExitStatus run_replay(const Options& options, Console& console) {
  Results results{options, console.out};
  Progress progress{console.err, console.progress(options.verbosity)};
  const std::vector<Subject> subjects = load_all(options, progress);
  for (const char* option : {"answers", "snapshot-out", "expect"}) {
    if (options.own.has(option)) require_one(subjects, option);
  }
  const auto expected = options.own.text("expect");
  const CompareOptions compare = with_series(options);
  std::vector<Comparison> comparisons;
  ExitStatus status = ExitStatus::fine;
  for (const Subject& subject : subjects) {
    progress.now("simulating " + printable(subject.source.file));
    const PreparedRun prepared{subject, options.setting, compare};
    if (expected) {
      return meets_expectation(prepared, *expected, console) ? ExitStatus::fine
                                                             : ExitStatus::failed;
    }
    comparisons.push_back(simulate(subject, prepared, compare));
    const ComparedRun& only = comparisons.back().runs.front();
    if (only.refused()) throw UsageError{describe_refusal(only)};
    if (fails_anew(only.run)) status = ExitStatus::failed;
    results.answers.write([&](std::ostream& out) { write_answers(prepared, out); });
    results.snapshot.write([&](std::ostream& out) { write_snapshot(subject, prepared, out); });
  }
  results.json.write([&](std::ostream& out) { write_json(comparisons, out); });
  results.csv.write([&](std::ostream& out) { write_series_csv(comparisons, out); });
  if (!results.take_standard_output()) print(comparisons, options, console);
  return status;
}

}  // namespace

Command replay_command() {
  return {.syntax = {.name = "replay",
                     .usage = "TRACE [--setting CONF] [options]",
                     .summary = "one simulation",
                     .explanation =
                         "Replays the requests of a trace through the allocator's model. Exits "
                         "1 when a request fails that\ndid not fail in the recording, 2 when "
                         "the setting is refused.\n",
                     .settings = SettingsArgument::one,
                     .changes_trace = true,
                     .prices_calls = true,
                     .writes_json = true,
                     .csv = series_csv_help,
                     .own = {{.name = "snapshot-out",
                              .argument = "FILE",
                              .help = "write the simulated run as a snapshot, for memory_viz and "
                                      "MindStudio Insight"},
                             {.name = "answers",
                              .argument = "FILE",
                              .help = "write what the model answered to each call, as JSON Lines"},
                             {.name = "expect",
                              .argument = "FILE",
                              .help = "stop at the first answer that differs from this file's"}}},
          .run = run_replay};
}

}  // namespace fragcast
