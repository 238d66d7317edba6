#include "replay/cli/grammar.hpp"

#include <fmt/format.h>

#include <sstream>

namespace fragcast {
namespace {

namespace po = boost::program_options;

constexpr unsigned line_length = 100;

po::options_description reading_options() {
  po::options_description group{"Reading", line_length};
  group.add_options()(
      "device", po::value<int>()->value_name("N"), "only this device of a snapshot (default: all)")(
      "format",
      po::value<std::string>()->value_name("auto|snapshot|calls"),
      "what the file is (default: told by its contents)");
  return group;
}

po::options_description run_options(const CommandSyntax& syntax) {
  po::options_description group{"The run", line_length};
  auto add = group.add_options();
  add("model",
      po::value<std::string>()->value_name("NAME"),
      "the allocator (default: the recorded one; `fragcast models` lists them)");
  add("release",
      po::value<std::string>()->value_name("NAME"),
      "the version of the allocator (`fragcast models` lists them)");
  if (syntax.settings == SettingsArgument::one) {
    add("setting",
        po::value<std::string>()->value_name("CONF"),
        "simulate under these settings, as the allocator's environment variable would hold them");
  }
  add(syntax.settings == SettingsArgument::recorded ? "setting" : "recorded-setting",
      po::value<std::string>()->value_name("CONF"),
      "the settings the recording was made under, where the file does not say");
  add("device-memory",
      po::value<std::string>()->value_name("SIZE"),
      syntax.settings == SettingsArgument::several
          ? "the device's memory, such as 32GiB, or several to compare: 32GiB,48GiB (default: as "
            "recorded, else unlimited)"
          : "the device's memory, such as 32GiB (default: as recorded, else unlimited)");
  if (syntax.settings != SettingsArgument::recorded) {
    add("others",
        po::value<std::string>()->value_name("SIZE"),
        "what of it others hold: other processes, communication buffers, the context (default: 0)");
  }
  add("fraction",
      po::value<double>()->value_name("F"),
      "limit the allocator to this fraction, 0..1, of the device's memory");
  add("soc",
      po::value<std::string>()->value_name("NAME"),
      "the chip: ascend910b (requests are padded) or ascend950 (they are not)");
  return group;
}

po::options_description what_if_options() {
  po::options_description group{"What if", line_length};
  auto add = group.add_options();
  add("empty-cache",
      po::value<std::string>()->value_name("keep|drop"),
      "what becomes of the recorded empty_cache calls (default: keep)");
  add("empty-cache-at",
      po::value<std::string>()->value_name("WHEN,..."),
      "drop them, and call empty_cache there: request:N and other places, every:N, "
      "step-end[:every=K], before-step:longest, when:gap>SIZE, when:utilisation<R, marker:TEXT; "
      "none");
  add("without",
      po::value<std::vector<std::string>>()->value_name("SITE[:step-end]"),
      "without what this call site allocates (or with it freed at its step's end)");
  add("drop-step",
      po::value<std::vector<std::string>>()->value_name("K"),
      "without what step K makes and frees again");
  add("on-oom",
      po::value<std::string>()->value_name("continue|stop"),
      "after a request that finds no memory (default: continue, and drop its later calls)");
  return group;
}

po::options_description price_options(const CommandSyntax& syntax) {
  po::options_description group{"The device", line_length};
  auto add = group.add_options();
  add("profile",
      po::value<std::string>()->value_name("NAME"),
      syntax.searches_memory
          ? "the device whose prices estimate the time of device calls (`fragcast profiles`)"
          : "run on this device: its memory, what others hold of it at a process's start, and its "
            "prices (`fragcast profiles` lists them)");
  add("prices",
      po::value<std::string>()->value_name("FILE"),
      "prices of your own, in the form in which `fragcast profiles --profile NAME` shows them");
  return group;
}

po::options_description settings_options() {
  po::options_description group{"Settings to try", line_length};
  auto add = group.add_options();
  add("setting",
      po::value<std::vector<std::string>>()->value_name("[NAME=]CONF"),
      "settings to try, under a name of your own; may be given again");
  add("settings-file",
      po::value<std::string>()->value_name("FILE"),
      "more of them, one [NAME=]CONF a line");
  return group;
}

po::options_description own_options(const CommandSyntax& syntax) {
  po::options_description group{fmt::format("Options of {}", syntax.name), line_length};
  auto add = group.add_options();
  for (const OwnOption& option : syntax.own) {
    if (option.argument.empty()) {
      add(option.name.c_str(), option.help.c_str());
    } else {
      add(option.name.c_str(),
          po::value<std::string>()->value_name(option.argument),
          option.help.c_str());
    }
  }
  return group;
}

po::options_description output_options(const CommandSyntax& syntax) {
  po::options_description group{"Output", line_length};
  auto add = group.add_options();
  if (syntax.writes_json) {
    add("json",
        po::value<std::string>()->implicit_value("-")->value_name("FILE"),
        "write the result as JSON, to standard output without =FILE");
  }
  if (!syntax.csv.empty()) {
    add("csv", po::value<std::string>()->value_name("FILE"), syntax.csv.c_str());
  }
  if (syntax.has_threads) {
    add("threads",
        po::value<unsigned>()->value_name("N"),
        "simulations at a time (default: one per core; the result is the same)");
  }
  add("quiet,q", "only the verdict");
  add("color", po::value<std::string>()->value_name("auto|always|never"), "colour on a terminal");
  add("help,h", "this help");
  return group;
}

po::options_description step_options() {
  po::options_description group{"Steps (found by themselves where something marks them)",
                                line_length};
  auto add = group.add_options();
  add("step-at",
      po::value<std::string>()->value_name("PLACE,..."),
      "a step begins right behind each of these places");
  add("steps", po::value<std::size_t>()->value_name("N"), "N steps of as many requests each");
  add("step-marker",
      po::value<std::string>()->value_name("TEXT"),
      "a step begins where an annotation, a mark or a call stack's frame contains this text");
  return group;
}

}  // namespace

Grammar grammar_of(const CommandSyntax& syntax) {
  Grammar grammar;
  const auto add = [&](bool wanted, auto make) {
    if (wanted) grammar.groups.push_back(make());
  };
  add(!syntax.own.empty(), [&] { return own_options(syntax); });
  add(syntax.settings == SettingsArgument::several, settings_options);
  add(syntax.files == FileArguments::traces, [&] { return run_options(syntax); });
  add(syntax.changes_trace, what_if_options);
  add(syntax.prices_calls, [&] { return price_options(syntax); });
  add(syntax.files == FileArguments::traces, step_options);
  add(syntax.files == FileArguments::traces, reading_options);
  add(true, [&] { return output_options(syntax); });
  return grammar;
}

std::string help_text(const CommandSyntax& syntax) {
  std::ostringstream text;
  text << "usage: fragcast " << syntax.name << ' ' << syntax.usage << "\n\n" << syntax.explanation;
  for (const auto& group : grammar_of(syntax).groups) text << '\n' << group;
  return text.str();
}

}  // namespace fragcast
