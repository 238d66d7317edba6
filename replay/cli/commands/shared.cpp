#include "replay/cli/commands/shared.hpp"

#include "replay/report/comparison_text.hpp"
#include "replay/report/printable.hpp"

namespace fragcast {

std::vector<Subject> load_all(const Options& options, Progress& progress) {
  std::vector<Subject> subjects;
  for (const std::string& file : options.files) {
    progress.now("reading " + printable(file));
    for (Subject& subject : load_subjects(file, load_options(options))) {
      subjects.push_back(std::move(subject));
    }
  }
  return subjects;
}

const ModelEntry& model_of(const Subject& subject, const Options& options) {
  const ModelEntry* model = options.compare.model != nullptr
                                ? options.compare.model
                                : find_model(subject.history.conditions.model);
  if (model != nullptr) return *model;
  throw InputError{{.file = subject.source.file, .line = {}, .byte = {}},
                   "no model for the allocator that was recorded"};
}

CompareOptions with_series(const Options& options) {
  CompareOptions compare = options.compare;
  if (options.csv) compare.series = KeepSeries::yes;
  return compare;
}

void print(const std::vector<Comparison>& comparisons, const Options& options, Console& console) {
  const TextDetail detail =
      options.verbosity == Verbosity::quiet ? TextDetail::verdict_only : TextDetail::full;
  for (const Comparison& comparison : comparisons) {
    write_text(comparison, detail, console.emphasis(options.color), console.out);
  }
}

OwnOption salvage_option() {
  return {.name = "salvage", .argument = "", .help = "read a cut file as far as it goes"};
}

LoadOptions load_options(const Options& options) {
  LoadOptions load = options.load;
  if (options.own.has("salvage")) load.cut = CutSnapshot::salvage;
  return load;
}

}  // namespace fragcast
