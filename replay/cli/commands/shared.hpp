#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "replay/cli/command.hpp"
#include "replay/compare/comparison.hpp"
#include "replay/load/subject.hpp"
#include "replay/report/output_file.hpp"

namespace fragcast {

/// Reads all files of the command line; every device of a snapshot is a subject.
[[nodiscard]] std::vector<Subject> load_all(const Options& options, Progress& progress);

/// The model of the allocator that was recorded, or the one the user names. Throws InputError if
/// there is none.
[[nodiscard]] const ModelEntry& model_of(const Subject& subject, const Options& options);

/// A file that the user wants a result in: opened before anything is computed, and there only once
/// it is complete.
class Result {
 public:
  Result(const std::optional<std::string>& name, std::ostream& standard_output) {
    if (name) file_.emplace(*name, standard_output);
    takes_standard_output_ = name == "-";
  }

  /// `write(stream)`, if the user wants it.
  template <class Write>
  void write(Write write) {
    if (!file_) return;
    write(file_->stream());
    file_->commit();
  }
  /// Whether standard output is taken, so that no text may go there.
  [[nodiscard]] bool takes_standard_output() const { return takes_standard_output_; }

 private:
  std::optional<OutputFile> file_;
  bool takes_standard_output_ = false;
};

/// The options of `compare`, with the series of the four amounts kept where `--csv` wants it.
[[nodiscard]] CompareOptions with_series(const Options& options);

void print(const std::vector<Comparison>& comparisons, const Options& options, Console& console);

[[nodiscard]] OwnOption salvage_option();
/// Applies it.
[[nodiscard]] LoadOptions load_options(const Options& options);

constexpr const char* series_csv_help =
    "write requested, allocated, active and reserved after every event";

}  // namespace fragcast
