#include "replay/cli/options.hpp"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <charconv>
#include <sstream>
#include <string_view>

#include "replay/cli/settings_arguments.hpp"
#include "replay/trace/quantity.hpp"

namespace fragcast {
namespace {

namespace po = boost::program_options;

/// On the help page options stand in groups; all of a command's groups are parsed together.
struct Grammar {
  std::vector<po::options_description> groups;

  [[nodiscard]] po::options_description visible() const {
    po::options_description all;
    for (const auto& group : groups) all.add(group);
    return all;
  }
};

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

/// Whether the command simulates other circumstances, or is about the recording as it is.
bool asks_what_if(const CommandSyntax& syntax) {
  return syntax.simulates || syntax.compares || syntax.has_place || syntax.looks_into_run;
}

/// Whether the command takes transforms of the trace.
bool changes_trace(const CommandSyntax& syntax) {
  return syntax.simulates || syntax.compares || syntax.looks_into_run;
}

/// Whether the command estimates what device calls take.
bool prices_calls(const CommandSyntax& syntax) { return syntax.simulates || syntax.compares; }

po::options_description recorded_options(const CommandSyntax& syntax) {
  po::options_description group{"The run", line_length};
  auto add = group.add_options();
  add("model",
      po::value<std::string>()->value_name("NAME"),
      "the allocator (default: the recorded one; `fragcast models` lists them)");
  add("release",
      po::value<std::string>()->value_name("NAME"),
      "the version of the allocator (`fragcast models` lists them)");
  if (asks_what_if(syntax) && !syntax.compares) {
    add("setting",
        po::value<std::string>()->value_name("CONF"),
        "simulate under these settings, as the allocator's environment variable would hold them");
  }
  add(asks_what_if(syntax) ? "recorded-setting" : "setting",
      po::value<std::string>()->value_name("CONF"),
      "the settings the recording was made under, where the file does not say");
  add("device-memory",
      po::value<std::string>()->value_name("SIZE"),
      "the device's memory, such as 32GiB (default: as recorded, else unlimited)");
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

po::options_description price_options() {
  po::options_description group{"Prices of device calls", line_length};
  auto add = group.add_options();
  add("profile",
      po::value<std::string>()->value_name("NAME"),
      "the device whose prices estimate the time of device calls (`fragcast profiles` lists them)");
  add("prices",
      po::value<std::string>()->value_name("FILE"),
      "prices of your own, in the form in which `fragcast profiles --profile NAME` shows them");
  return group;
}

po::options_description comparing_options() {
  po::options_description group{"Settings to compare", line_length};
  auto add = group.add_options();
  add("setting",
      po::value<std::vector<std::string>>()->value_name("[NAME=]CONF"),
      "settings to try, under a name of your own; may be given again");
  add("settings-file",
      po::value<std::string>()->value_name("FILE"),
      "more of them, one [NAME=]CONF a line");
  add("threads",
      po::value<unsigned>()->value_name("N"),
      "simulations at a time (default: one per core; the result is the same)");
  return group;
}

po::options_description output_options(const CommandSyntax& syntax) {
  po::options_description group{"Output", line_length};
  auto add = group.add_options();
  if (syntax.simulates || syntax.compares) {
    add("json",
        po::value<std::string>()->implicit_value("-")->value_name("FILE"),
        "write the result as JSON, to standard output without =FILE");
    add("csv",
        po::value<std::string>()->value_name("FILE"),
        "write requested, allocated, active and reserved after every event");
  }
  if (syntax.simulates) {
    add("snapshot-out",
        po::value<std::string>()->value_name("FILE"),
        "write the simulated run as a snapshot, for memory_viz and MindStudio Insight");
    add("answers",
        po::value<std::string>()->value_name("FILE"),
        "write what the model answered to each call, as JSON Lines");
    add("expect",
        po::value<std::string>()->value_name("FILE"),
        "stop at the first answer that differs from this file's");
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

Grammar grammar_of(const CommandSyntax& syntax) {
  Grammar grammar;
  if (syntax.compares) grammar.groups.push_back(comparing_options());
  if (syntax.reads_trace) grammar.groups.push_back(recorded_options(syntax));
  if (changes_trace(syntax)) grammar.groups.push_back(what_if_options());
  if (prices_calls(syntax)) grammar.groups.push_back(price_options());
  if (syntax.lists_profiles) {
    po::options_description group{"Which", line_length};
    group.add_options()("profile",
                        po::value<std::string>()->value_name("NAME"),
                        "the prices of this device, as a file that --prices reads");
    grammar.groups.push_back(group);
  }
  if (syntax.verifies) {
    po::options_description group{"Judging", line_length};
    group.add_options()("tolerance",
                        po::value<double>()->value_name("PERCENT"),
                        "how many percent may differ before the exit status is 1 (default: 0)");
    grammar.groups.push_back(group);
  }
  if (syntax.has_place) {
    po::options_description group{"Where", line_length};
    group.add_options()(
        "at",
        po::value<std::string>()->value_name("PLACE"),
        "event:N, request:N, mark:TEXT, step:K, step:K.end, peak or end (default: end)");
    grammar.groups.push_back(group);
  }
  if (syntax.reads_trace) grammar.groups.push_back(step_options());
  if (syntax.reads_trace) {
    po::options_description reading = reading_options();
    if (syntax.name == "info" || syntax.name == "layout") {
      reading.add_options()("salvage", "read a cut file as far as it goes");
    }
    grammar.groups.push_back(reading);
  }
  grammar.groups.push_back(output_options(syntax));
  return grammar;
}

/// One of several words, or a UsageError that lists them.
template <class Enum>
Enum choose(const po::variables_map& values,
            const char* option,
            std::initializer_list<std::pair<const char*, Enum>> choices) {
  if (values.count(option) == 0) return choices.begin()->second;
  const auto& word = values[option].as<std::string>();
  std::string known;
  for (const auto& [name, value] : choices) {
    if (word == name) return value;
    known += known.empty() ? name : fmt::format(", {}", name);
  }
  throw UsageError{fmt::format("--{} {}: choose one of {}", option, word, known)};
}

template <class T>
std::optional<T> optional_value(const po::variables_map& values, const char* option) {
  if (values.count(option) == 0) return std::nullopt;
  return values[option].as<T>();
}

InputPosition at_option(const char* option) {
  return {.file = fmt::format("--{}", option), .line = {}, .byte = {}};
}

/// The release of that name, of `model` or, where none is named, of any.
const ModelRelease* release_of(const ModelEntry* model, const std::string& name) {
  for (const ModelEntry& entry : all_models()) {
    if (model != nullptr && model != &entry) continue;
    if (const ModelRelease* release = find_release(entry, name)) return release;
  }
  throw UsageError{
      fmt::format("--release {}: there is no such release; `fragcast models` lists them", name)};
}

/// Which run the conditions are about: commands that simulate ask "what if", the others say under
/// what the recording was made.
void read_conditions(const po::variables_map& values,
                     const CommandSyntax& syntax,
                     Options& options) {
  CompareOptions what_if;
  if (const auto name = optional_value<std::string>(values, "model")) {
    what_if.model = find_model(*name);
    if (what_if.model == nullptr) {
      throw UsageError{
          fmt::format("--model {}: there is no such model; `fragcast models` lists them", *name)};
    }
  }
  if (const auto name = optional_value<std::string>(values, "release")) {
    what_if.release = release_of(what_if.model, *name);
  }
  if (const auto size = optional_value<std::string>(values, "device-memory")) {
    what_if.device_memory = parse_size(*size, at_option("device-memory"));
    if (*what_if.device_memory <= Bytes{0}) throw UsageError{"--device-memory: a device has some"};
  }
  if (const auto fraction = optional_value<double>(values, "fraction")) {
    if (!(*fraction >= 0.0 && *fraction <= 1.0)) {
      throw UsageError{fmt::format("--fraction {}: a fraction lies in 0..1", *fraction)};
    }
    what_if.fraction = fraction;
  }
  if (const auto name = optional_value<std::string>(values, "soc")) {
    what_if.soc = find_soc(*name);
    if (!what_if.soc) {
      throw UsageError{fmt::format("--soc {}: choose one of ascend910b, ascend950", *name)};
    }
  }
  options.load.stated.settings =
      optional_value<std::string>(values, asks_what_if(syntax) ? "recorded-setting" : "setting");
  options.load.stated.soc = what_if.soc;
  options.compare = what_if;
  if (asks_what_if(syntax)) return;
  if (what_if.model != nullptr) options.load.stated.model = what_if.model->name;
  options.load.stated.release = what_if.release;
  options.load.stated.device_memory = what_if.device_memory;
  options.load.stated.fraction = what_if.fraction;
}

std::size_t parse_step(const std::string& text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number == 0) {
    throw UsageError{fmt::format("--drop-step {}: steps have numbers from 1", text)};
  }
  return number;
}

const KnownDevice* profile_in(const po::variables_map& values) {
  const auto name = optional_value<std::string>(values, "profile");
  if (!name) return nullptr;
  const KnownDevice* device = find_known_device(*name);
  if (device != nullptr) return device;
  throw UsageError{
      fmt::format("--profile {}: there is no such device; `fragcast profiles` lists them", *name)};
}

void read_prices(const po::variables_map& values, Options& options) {
  if (const auto file = optional_value<std::string>(values, "prices")) {
    options.compare.price_overrides = read_price_file(*file);
  }
}

void read_what_if(const po::variables_map& values, Options& options) {
  enum class Keep : std::uint8_t { keep, drop };
  if (choose<Keep>(values, "empty-cache", {{"keep", Keep::keep}, {"drop", Keep::drop}}) ==
      Keep::drop) {
    options.compare.changes.empty_cache = DropEmptyCache{};
  }
  if (const auto places = optional_value<std::string>(values, "empty-cache-at")) {
    options.compare.changes.empty_cache =
        EmptyCacheAt{parse_emptyings(*places, at_option("empty-cache-at"))};
  }
  if (values.count("without") != 0) {
    for (const auto& text : values["without"].as<std::vector<std::string>>()) {
      options.compare.changes.without.push_back(parse_without(text, at_option("without")));
    }
  }
  if (values.count("drop-step") != 0) {
    for (const auto& text : values["drop-step"].as<std::vector<std::string>>()) {
      options.compare.changes.dropped_steps.push_back(parse_step(text));
    }
  }
  options.compare.on_oom =
      choose<OnOom>(values, "on-oom", {{"continue", OnOom::carry_on}, {"stop", OnOom::stop}});
}

void read_settings(const po::variables_map& values, const CommandSyntax& syntax, Options& options) {
  if (!asks_what_if(syntax)) return;
  if (!syntax.compares) {
    const auto text = optional_value<std::string>(values, "setting");
    if (text) options.setting = parse_named_settings(*text, at_option("setting"));
    return;
  }
  if (values.count("setting") != 0) {
    for (const auto& text : values["setting"].as<std::vector<std::string>>()) {
      options.compare.settings.push_back(parse_named_settings(text, at_option("setting")));
    }
  }
  if (const auto file = optional_value<std::string>(values, "settings-file")) {
    for (NamedSettings& settings : read_settings_file(*file)) {
      options.compare.settings.push_back(std::move(settings));
    }
  }
  options.compare.threads = optional_value<unsigned>(values, "threads").value_or(0);
}

void read_output(const po::variables_map& values, Options& options) {
  options.json = optional_value<std::string>(values, "json");
  options.csv = optional_value<std::string>(values, "csv");
  options.snapshot_out = optional_value<std::string>(values, "snapshot-out");
  options.answers = optional_value<std::string>(values, "answers");
  options.expect = optional_value<std::string>(values, "expect");
  if (options.csv) options.compare.series = KeepSeries::yes;
  if (values.count("quiet") != 0) options.verbosity = Verbosity::quiet;
  options.color = choose<Color>(
      values,
      "color",
      {{"auto", Color::automatic}, {"always", Color::always}, {"never", Color::never}});
}

void read_reading(const po::variables_map& values, Options& options) {
  options.load.device = optional_value<int>(values, "device");
  options.load.format = choose<InputFormat>(values,
                                            "format",
                                            {{"auto", InputFormat::automatic},
                                             {"snapshot", InputFormat::snapshot},
                                             {"calls", InputFormat::call_script}});
  if (values.count("salvage") != 0) options.load.cut = CutSnapshot::salvage;
}

void read_steps(const po::variables_map& values, Options& options) {
  std::vector<StepWish> wishes;
  if (const auto places = optional_value<std::string>(values, "step-at")) {
    wishes.emplace_back(step_wish::At{parse_places(*places, at_option("step-at"))});
  }
  if (const auto count = optional_value<std::size_t>(values, "steps")) {
    wishes.emplace_back(step_wish::Count{*count});
  }
  if (const auto text = optional_value<std::string>(values, "step-marker")) {
    if (text->empty()) throw UsageError{"--step-marker: a text must follow"};
    wishes.emplace_back(step_wish::Marker{*text});
  }
  if (wishes.size() > 1) {
    throw UsageError{"--step-at, --steps and --step-marker exclude each other"};
  }
  if (!wishes.empty()) options.load.steps = wishes.front();
}

}  // namespace

std::string help_text(const CommandSyntax& syntax) {
  std::ostringstream text;
  text << "usage: fragcast " << syntax.name << ' ' << syntax.usage << "\n\n" << syntax.explanation;
  for (const auto& group : grammar_of(syntax).groups) text << '\n' << group;
  return text.str();
}

Options parse_options(const CommandSyntax& syntax, const std::vector<std::string>& words) {
  const Grammar grammar = grammar_of(syntax);
  po::options_description all = grammar.visible();
  all.add_options()("file", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("file", -1);
  po::variables_map values;
  try {
    po::store(po::command_line_parser{words}.options(all).positional(positional).run(), values);
  } catch (const po::error& error) {
    throw UsageError{
        fmt::format("{} (`fragcast {} --help` lists what it takes)", error.what(), syntax.name)};
  }
  Options options;
  if (values.count("file") != 0) options.files = values["file"].as<std::vector<std::string>>();
  if (syntax.reads_trace && options.files.empty()) {
    throw UsageError{
        fmt::format("fragcast {} needs a trace: a snapshot or a call script", syntax.name)};
  }
  if (!syntax.reads_trace && !options.files.empty()) {
    throw UsageError{fmt::format("fragcast {} reads no file", syntax.name)};
  }
  read_conditions(values, syntax, options);
  options.compare.profile = profile_in(values);
  if (changes_trace(syntax)) read_what_if(values, options);
  if (prices_calls(syntax)) read_prices(values, options);
  read_settings(values, syntax, options);
  read_reading(values, options);
  read_steps(values, options);
  read_output(values, options);
  if (const auto place = optional_value<std::string>(values, "at")) {
    options.at = parse_place(*place, at_option("at"));
  }
  if (const auto percent = optional_value<double>(values, "tolerance")) {
    if (!(*percent >= 0.0 && *percent <= 100.0)) throw UsageError{"--tolerance lies in 0..100"};
    options.tolerance = *percent;
  }
  return options;
}

}  // namespace fragcast
