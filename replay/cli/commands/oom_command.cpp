#include <fmt/format.h>

#include <locale>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "replay/cli/commands/shared.hpp"
#include "replay/compare/compare.hpp"
#include "replay/report/oom_report.hpp"
#include "replay/report/printable.hpp"
#include "replay/trace/quantity.hpp"

namespace fragcast {
namespace {

OomLog read_log(const std::string& file) {
  return file == "-" ? read_oom_log("/dev/stdin", "standard input") : read_oom_log(file, file);
}

std::vector<OomLog> read_logs(const Options& options, Progress& progress) {
  std::vector<std::string> files = options.files;
  if (files.empty()) files.emplace_back("-");
  std::vector<OomLog> logs;
  for (const std::string& file : files) {
    progress.now("reading " + printable(file));
    logs.push_back(read_log(file));
  }
  return logs;
}

/// A share of the device's memory, if the option is given.
std::optional<double> share_of(const Options& options, const char* name) {
  const auto text = options.own.text(name);
  if (!text) return std::nullopt;
  std::istringstream input{*text};
  input.imbue(std::locale::classic());
  double share = 0;
  const bool whole = (input >> share) && input.peek() == std::istringstream::traits_type::eof();
  if (!whole || !(share >= 0.0 && share <= 1.0)) {
    throw UsageError{
        fmt::format("--{} {}: a share of the device's memory, 0..1, must follow", name, *text)};
  }
  return share;
}

OomThresholds thresholds_of(const Options& options) {
  const OomThresholds usual;
  return {.outside = share_of(options, "outside-above").value_or(usual.outside),
          .streams = share_of(options, "streams-above").value_or(usual.streams),
          .private_pools = share_of(options, "pools-above").value_or(usual.private_pools)};
}

/// Under what the trace was recorded, where its file does not say.
LoadOptions trace_options(const Options& options) {
  LoadOptions load;
  load.stated.settings = options.own.text("setting");
  load.stated.fraction = share_of(options, "fraction");
  if (const auto size = options.own.text("device-memory")) {
    load.stated.device_memory = parse_size(*size, at_option("device-memory"));
  }
  return load;
}

/// The one device of the trace that the messages are held against.
Subject load_trace(const std::string& file, const LoadOptions& load) {
  std::vector<Subject> subjects = load_subjects(file, load);
  if (subjects.size() != 1) {
    throw UsageError{
        fmt::format("--trace {}: is of {} devices; an out-of-memory message is about one",
                    file,
                    subjects.size())};
  }
  if (subjects.front().state_only()) {
    throw UsageError{fmt::format("--trace {}: holds no history, so no request in it fails", file)};
  }
  return std::move(subjects.front());
}

/// Whether all messages agree with the trace, if one is named.
bool check_trace(OomReport& report, const Options& options, Progress& progress) {
  const auto file = options.own.text("trace");
  if (!file) return true;
  progress.now("replaying " + printable(*file));
  const Subject subject = load_trace(*file, trace_options(options));
  const PreparedRun prepared{subject, {}, options.compare};
  const Run run = replay(prepared.trace(), prepared.spec());
  if (run.outcome == RunOutcome::refused) throw UsageError{run.reason};
  report.trace = fmt::format("{}, device {}", subject.source.file, subject.device);
  bool agree = true;
  for (ExplainedOom& oom : report.messages) {
    oom.trace = check_against(oom.found.message, subject, run);
    agree = agree && oom.trace->agrees();
  }
  return agree;
}

std::string nothing_found(const OomReport& report) {
  std::string text;
  for (const OomLog& log : report.logs) {
    text += fmt::format("{}: no out-of-memory message in {} lines", printable(log.file), log.lines);
    if (log.mentions > 0) {
      text += fmt::format(
          "; lines that mention it without figures: {}, the first is line {}; "
          "wanted is the error itself, with what it tried to allocate",
          log.mentions,
          log.first_mention);
    }
    if (log.binary) text += "; it is no text (fragcast info reads snapshots)";
    if (!log.cut.empty()) text += fmt::format("; {} is cut off", log.cut);
    text += '\n';
  }
  return text;
}

OomDetail detail_of(const Options& options) {
  if (options.verbosity == Verbosity::quiet) return OomDetail::verdict;
  return options.own.has("all") ? OomDetail::all : OomDetail::first;
}

ExitStatus run_oom(const Options& options, Console& console) {
  const OomThresholds thresholds = thresholds_of(options);
  Result json{options.json, console.out};
  Progress progress{console.err, console.progress(options.verbosity)};
  OomReport report = explain(read_logs(options, progress), thresholds);
  const bool agree = check_trace(report, options, progress);
  json.write([&](std::ostream& out) { write_json(report, out); });
  const bool found = !report.messages.empty();
  if (!json.takes_standard_output()) {
    if (!found) console.out << nothing_found(report);
    write_oom(report, detail_of(options), console.emphasis(options.color), console.out);
  }
  return found && agree ? ExitStatus::fine : ExitStatus::failed;
}

}  // namespace

Command oom_command() {
  return {
      .syntax =
          {.name = "oom",
           .usage = "[FILE|-]... [--trace TRACE] [options]",
           .summary = "why memory ran out, from the message in a log",
           .explanation =
               "Finds out-of-memory messages of torch_npu and of PyTorch on CUDA, all wordings, "
               "in\n"
               "logs of any kind, and says for each what its figures, rounded as they are, allow "
               "to\n"
               "be said: capacity, a fraction, the driver, memory held outside, other streams,\n"
               "private pools or fragmentation, and the most that any setting could reach. Without "
               "a\nfile it reads standard input. Exits 1 when there is no such message, or when "
               "one "
               "does not\nagree with the trace.\n",
           .files = FileArguments::logs,
           .writes_json = true,
           .own = {{.name = "trace",
                    .argument = "TRACE",
                    .help = "check the messages against a replay of this recording or call script"},
                   {.name = "setting",
                    .argument = "CONF",
                    .help = "the settings that trace was recorded under, where it does not say"},
                   {.name = "device-memory",
                    .argument = "SIZE",
                    .help = "the device's memory then (default: as its failures tell)"},
                   {.name = "fraction",
                    .argument = "F",
                    .help = "the fraction, 0..1, that the allocator was limited to then"},
                   {.name = "all",
                    .argument = "",
                    .help = "all about every message, not about the first alone"},
                   {.name = "outside-above",
                    .argument = "SHARE",
                    .help = "of the device's memory: so much held outside is called large (0.2)"},
                   {.name = "streams-above",
                    .argument = "SHARE",
                    .help = "so much that other streams still use (0.05)"},
                   {.name = "pools-above",
                    .argument = "SHARE",
                    .help = "so much that is free in private pools (0.05)"}}},
      .run = run_oom};
}

}  // namespace fragcast
