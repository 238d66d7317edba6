#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "replay/cli/command.hpp"
#include "replay/compare/compare.hpp"
#include "replay/engine/session.hpp"
#include "replay/formats/price_file.hpp"
#include "replay/report/comparison_text.hpp"
#include "replay/report/info_text.hpp"
#include "replay/report/printable.hpp"
#include "replay/report/steps_text.hpp"
#include "replay/report/table.hpp"
#include "replay/steps/step_table.hpp"
#include "replay/verify/verify.hpp"
#include "sim/device/prices.hpp"
#include "sim/observe/draw.hpp"
#include "sim/observe/fragmentation.hpp"

namespace fragcast {
namespace {

InputError error_of(const Subject& subject, const std::string& sentence) {
  return InputError{{.file = subject.source.file, .line = {}, .byte = {}}, sentence};
}

/// The model of the allocator that was recorded, or the one the user names.
const ModelEntry& model_of(const Subject& subject, const Options& options) {
  const ModelEntry* model = options.compare.model != nullptr
                                ? options.compare.model
                                : find_model(subject.history.conditions.model);
  if (model == nullptr) throw error_of(subject, "no model for the allocator that was recorded");
  return *model;
}

bool verify_one(const Subject& subject, const Options& options, Console& console) {
  if (!subject.is_recording()) {
    throw error_of(subject,
                   "is a call script: nothing was recorded that it could be verified against "
                   "(fragcast replay --expect FILE compares answers)");
  }
  if (subject.state_only()) {
    throw error_of(subject, "holds a state without a history: there is nothing to verify");
  }
  const Verification verification = verify(subject.history, model_of(subject, options));
  const double missing = 100.0 - verification.percent();
  const bool enough =
      verification.refusal.empty() &&
      (verification.perfect() || (options.tolerance > 0 && missing <= options.tolerance));
  if (options.verbosity == Verbosity::normal) write_subject(subject, console.out);
  const Emphasis emphasis = console.emphasis(options.color);
  console.out << (verification.perfect() ? strong("reproduced", emphasis)
                                         : alarming("NOT reproduced", emphasis))
              << ": " << describe(verification)
              << fmt::format(", reserved off by {} bytes at most\n",
                             verification.reserved_max_error.count());
  if (verification.first) {
    console.out << fmt::format("first difference at event:{} (request:{}): {} {}\n",
                               verification.first->entry,
                               verification.first->request,
                               printable(verification.first->what),
                               printable(verification.first->why));
  }
  return enough;
}

Layout layout_of(const Subject& subject, const Options& options) {
  if (subject.state_only()) return subject.trace().initial.heap;
  const PreparedRun prepared{subject, options.setting, options.compare};
  const Place place = options.at.value_or(place::AtEnd{});
  const InputPosition where{.file = "--at", .line = {}, .byte = {}};
  auto position = resolve(prepared.trace(), place, where);
  if (!position) {
    const Run run = replay(prepared.trace(), prepared.spec());
    if (run.outcome == RunOutcome::refused) throw UsageError{run.reason};
    return run.at_peak_reserved.heap;
  }
  Session session{prepared.trace(), resolve_conditions(prepared.trace(), prepared.spec())};
  if (!session.refusal().empty()) throw UsageError{session.refusal()};
  session.run_to(*position);
  return session.model().layout();
}

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

}  // namespace

ExitStatus run_info(const Options& options, Console& console) {
  for (const std::string& file : options.files) {
    for (const Subject& subject : load_subjects(file, options.load)) {
      write_info(subject, console.out);
    }
  }
  return ExitStatus::fine;
}

ExitStatus run_verify(const Options& options, Console& console) {
  bool all = true;
  for (const std::string& file : options.files) {
    for (const Subject& subject : load_subjects(file, options.load)) {
      all = verify_one(subject, options, console) && all;
    }
  }
  return all ? ExitStatus::fine : ExitStatus::failed;
}

ExitStatus run_layout(const Options& options, Console& console) {
  for (const std::string& file : options.files) {
    for (const Subject& subject : load_subjects(file, options.load)) {
      const Layout layout = layout_of(subject, options);
      if (options.verbosity == Verbosity::normal) {
        write_subject(subject, console.out);
        write_fragmentation(measure_fragmentation(layout), console.out);
      }
      console.out << draw(layout);
    }
  }
  return ExitStatus::fine;
}

ExitStatus run_steps(const Options& options, Console& console) {
  for (const std::string& file : options.files) {
    for (const Subject& subject : load_subjects(file, options.load)) {
      const PreparedRun prepared{subject, options.setting, options.compare};
      if (options.verbosity == Verbosity::normal) write_subject(subject, console.out);
      write_steps(
          prepared.trace().steps,
          measure_steps(prepared.trace(), resolve_conditions(prepared.trace(), prepared.spec())),
          console.out);
    }
  }
  return ExitStatus::fine;
}

ExitStatus run_profiles(const Options& options, Console& console) {
  if (options.compare.profile != nullptr) {
    console.out << price_file_of(*options.compare.profile);
    return ExitStatus::fine;
  }
  const auto gibibytes = [](std::optional<Bytes> size) {
    constexpr double gibibyte = 1 << 30;
    return size ? fmt::format("{:.2f} GiB", static_cast<double>(size->count()) / gibibyte)
                : std::string{"not known"};
  };
  Table table;
  table.add({"", "total", "free at start", "prices"});
  for (const KnownDevice& device : known_devices()) {
    table.add({std::string{device.name},
               gibibytes(device.total),
               gibibytes(device.free_at_start),
               device.basis == PriceBasis::guess ? "a guess" : "sources"});
  }
  table.print(console.out);
  console.out << '\n';
  for (const KnownDevice& device : known_devices()) {
    console.out << fmt::format("{:<12}{}\n", device.name, device.summary);
  }
  return ExitStatus::fine;
}

ExitStatus run_models(const Options&, Console& console) {
  for (const ModelEntry& model : all_models()) {
    console.out << fmt::format("{}\n  {}\n", model.name, model.summary);
    for (const ModelRelease& release : model.releases) write_release(model, release, console.out);
  }
  return ExitStatus::fine;
}

}  // namespace fragcast
