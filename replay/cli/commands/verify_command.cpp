#include <fmt/format.h>

#include <cstdlib>

#include "replay/cli/commands/shared.hpp"
#include "replay/report/comparison_text.hpp"
#include "replay/report/printable.hpp"
#include "replay/verify/verify.hpp"

namespace fragcast {
namespace {

InputError error_of(const Subject& subject, const std::string& sentence) {
  return InputError{{.file = subject.source.file, .line = {}, .byte = {}}, sentence};
}

/// How many percent may differ.
double tolerance_of(const Options& options) {
  const auto text = options.own.text("tolerance");
  if (!text) return 0.0;
  char* end = nullptr;
  const double percent = std::strtod(text->c_str(), &end);
  if (text->empty() || *end != '\0' || !(percent >= 0.0 && percent <= 100.0)) {
    throw UsageError{fmt::format("--tolerance {}: a number in 0..100 must follow", *text)};
  }
  return percent;
}

bool verify_one(const Subject& subject,
                double tolerance,
                const Options& options,
                Console& console) {
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
  const bool enough = verification.refusal.empty() &&
                      (verification.perfect() || (tolerance > 0 && missing <= tolerance));
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

ExitStatus run_verify(const Options& options, Console& console) {
  const double tolerance = tolerance_of(options);
  bool all = true;
  for (const std::string& file : options.files) {
    for (const Subject& subject : load_subjects(file, options.load)) {
      all = verify_one(subject, tolerance, options, console) && all;
    }
  }
  return all ? ExitStatus::fine : ExitStatus::failed;
}

}  // namespace

Command verify_command() {
  return {
      .syntax =
          {.name = "verify",
           .usage = "TRACE... [options]",
           .summary = "does the model reproduce this recording?",
           .explanation = "Replays a recording as it was recorded and compares every "
                          "allocation's address and every segment\nevent with it. Exits 1 "
                          "unless all agree, 2 where there is no history to replay.\n",
           .own = {{.name = "tolerance",
                    .argument = "PERCENT",
                    .help =
                        "how many percent may differ before the exit status is 1 (default: 0)"}}},
      .run = run_verify};
}

}  // namespace fragcast
