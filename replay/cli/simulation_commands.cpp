#include <fmt/format.h>

#include <optional>
#include <vector>

#include "replay/cli/command.hpp"
#include "replay/compare/compare.hpp"
#include "replay/compare/verdict.hpp"
#include "replay/report/answers.hpp"
#include "replay/report/comparison_json.hpp"
#include "replay/report/comparison_text.hpp"
#include "replay/report/expected.hpp"
#include "replay/report/output_file.hpp"
#include "replay/report/printable.hpp"
#include "replay/report/series_csv.hpp"
#include "replay/report/snapshot_out.hpp"

namespace fragcast {
namespace {

/// The files that the user wants results in, opened before anything is computed.
struct Outputs {
  Outputs(const Options& options, std::ostream& standard_output) {
    const auto open = [&](std::optional<OutputFile>& file, const std::optional<std::string>& name) {
      if (name) file.emplace(*name, standard_output);
    };
    open(json, options.json);
    open(csv, options.csv);
    open(answers, options.answers);
    open(snapshot, options.snapshot_out);
  }

  void write(const std::vector<Comparison>& comparisons) {
    if (json) {
      write_json(comparisons, json->stream());
      json->commit();
    }
    if (csv) {
      write_series_csv(comparisons, csv->stream());
      csv->commit();
    }
  }

  std::optional<OutputFile> json;
  std::optional<OutputFile> csv;
  std::optional<OutputFile> answers;
  std::optional<OutputFile> snapshot;
};

/// Text goes to standard output unless something else does.
void print(const std::vector<Comparison>& comparisons, const Options& options, Console& console) {
  for (const auto* file : {&options.json, &options.csv, &options.answers, &options.snapshot_out}) {
    if (*file == "-") return;
  }
  const TextDetail detail =
      options.verbosity == Verbosity::quiet ? TextDetail::verdict_only : TextDetail::full;
  for (const Comparison& comparison : comparisons) {
    write_text(comparison, detail, console.emphasis(options.color), console.out);
  }
}

std::vector<Subject> load_all(const Options& options, Progress& progress) {
  std::vector<Subject> subjects;
  for (const std::string& file : options.files) {
    progress.now("reading " + printable(file));
    for (Subject& subject : load_subjects(file, options.load)) {
      subjects.push_back(std::move(subject));
    }
  }
  return subjects;
}

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
      fmt::format("{} is about one device of one trace, but there are {}; choose with --device",
                  option,
                  subjects.size())};
}

}  // namespace

ExitStatus run_compare(const Options& options, Console& console) {
  Outputs outputs{options, console.out};
  Progress progress{console.err, console.progress(options.verbosity)};
  const std::vector<Subject> subjects = load_all(options, progress);
  std::vector<Comparison> comparisons;
  comparisons.reserve(subjects.size());
  for (const Subject& subject : subjects) {
    progress.now(
        fmt::format("simulating {} under several settings", printable(subject.source.file)));
    comparisons.push_back(compare(subject, options.compare));
  }
  outputs.write(comparisons);
  print(comparisons, options, console);
  return ExitStatus::fine;
}

ExitStatus run_replay(const Options& options, Console& console) {
  Outputs outputs{options, console.out};
  Progress progress{console.err, console.progress(options.verbosity)};
  const std::vector<Subject> subjects = load_all(options, progress);
  if (options.answers) require_one(subjects, "--answers");
  if (options.snapshot_out) require_one(subjects, "--snapshot-out");
  if (options.expect) require_one(subjects, "--expect");
  std::vector<Comparison> comparisons;
  ExitStatus status = ExitStatus::fine;
  for (const Subject& subject : subjects) {
    progress.now("simulating " + printable(subject.source.file));
    const PreparedRun prepared{subject, options.setting, options.compare};
    if (options.expect) {
      return meets_expectation(prepared, *options.expect, console) ? ExitStatus::fine
                                                                   : ExitStatus::failed;
    }
    comparisons.push_back(simulate(subject, prepared, options.compare));
    const ComparedRun& only = comparisons.back().runs.front();
    if (only.refused()) throw UsageError{describe_refusal(only)};
    if (fails_anew(only.run)) status = ExitStatus::failed;
    if (outputs.answers) {
      write_answers(prepared, outputs.answers->stream());
      outputs.answers->commit();
    }
    if (outputs.snapshot) {
      write_snapshot(subject, prepared, outputs.snapshot->stream());
      outputs.snapshot->commit();
    }
  }
  outputs.write(comparisons);
  print(comparisons, options, console);
  return status;
}

}  // namespace fragcast
