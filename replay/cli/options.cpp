#include "replay/cli/options.hpp"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <charconv>
#include <string_view>

#include "replay/cli/grammar.hpp"
#include "replay/cli/settings_arguments.hpp"
#include "replay/formats/price_file.hpp"
#include "replay/trace/quantity.hpp"

namespace fragcast {
namespace {

namespace po = boost::program_options;

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

/// The release of that name, of `model` or, where none is named, of any.
const ModelRelease* release_of(const ModelEntry* model, const std::string& name) {
  for (const ModelEntry& entry : all_models()) {
    if (model != nullptr && model != &entry) continue;
    if (const ModelRelease* release = find_release(entry, name)) return release;
  }
  throw UsageError{
      fmt::format("--release {}: there is no such release; `fragcast models` lists them", name)};
}

std::vector<Bytes> parse_memories(const std::string& text, const CommandSyntax& syntax) {
  std::vector<Bytes> sizes;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    sizes.push_back(parse_size(rest.substr(0, comma), at_option("device-memory")));
    if (sizes.back() <= Bytes{0}) throw UsageError{"--device-memory: a device has some"};
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (sizes.size() > 1 && syntax.settings != SettingsArgument::several) {
    throw UsageError{fmt::format("--device-memory: fragcast {} takes one size", syntax.name)};
  }
  return sizes;
}

/// Which run the conditions are about: commands that simulate ask "what if", the others say under
/// what the recording was made.
void read_conditions(const po::variables_map& values,
                     const CommandSyntax& syntax,
                     Options& options) {
  const bool asks_what_if = syntax.settings != SettingsArgument::recorded;
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
  if (const auto sizes = optional_value<std::string>(values, "device-memory")) {
    what_if.device_memory = parse_memories(*sizes, syntax);
  }
  if (const auto size = optional_value<std::string>(values, "others")) {
    what_if.others = parse_size(*size, at_option("others"));
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
      optional_value<std::string>(values, asks_what_if ? "recorded-setting" : "setting");
  options.load.stated.soc = what_if.soc;
  options.compare = what_if;
  if (asks_what_if) return;
  if (what_if.model != nullptr) options.load.stated.model = what_if.model->name;
  options.load.stated.release = what_if.release;
  if (!what_if.device_memory.empty()) {
    options.load.stated.device_memory = what_if.device_memory.front();
  }
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

/// A run on a known device: what of its memory is not free when a process starts, others hold.
/// What the user states himself stays.
void place_on(const KnownDevice& device, const po::variables_map& values, CompareOptions& compare) {
  if (!device.total || values.count("device-memory") != 0) return;
  compare.device_memory = {*device.total};
  if (device.free_at_start && values.count("others") == 0) {
    compare.others = *device.total - *device.free_at_start;
  }
}

void read_prices(const po::variables_map& values, const CommandSyntax& syntax, Options& options) {
  if (const auto name = optional_value<std::string>(values, "profile")) {
    options.compare.profile = find_known_device(*name);
    if (options.compare.profile == nullptr) {
      throw UsageError{fmt::format(
          "--profile {}: there is no such device; `fragcast profiles` lists them", *name)};
    }
  }
  if (options.compare.profile != nullptr && !syntax.searches_memory) {
    place_on(*options.compare.profile, values, options.compare);
  }
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
  if (syntax.settings == SettingsArgument::recorded) return;
  if (syntax.settings == SettingsArgument::one) {
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
}

void read_output(const po::variables_map& values, Options& options) {
  options.json = optional_value<std::string>(values, "json");
  options.csv = optional_value<std::string>(values, "csv");
  options.compare.threads = optional_value<unsigned>(values, "threads").value_or(0);
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

void check_files(const CommandSyntax& syntax, const std::vector<std::string>& files) {
  switch (syntax.files) {
    case FileArguments::traces:
      if (!files.empty()) return;
      throw UsageError{
          fmt::format("fragcast {} needs a trace: a snapshot or a call script", syntax.name)};
    case FileArguments::logs:
      return;
    case FileArguments::none:
      if (files.empty()) return;
      throw UsageError{fmt::format("fragcast {} reads no file", syntax.name)};
  }
}

}  // namespace

InputPosition at_option(const std::string& option) {
  return {.file = fmt::format("--{}", option), .line = {}, .byte = {}};
}

Options parse_options(const CommandSyntax& syntax, const std::vector<std::string>& words) {
  po::options_description all = grammar_of(syntax).all();
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
  check_files(syntax, options.files);
  if (syntax.files == FileArguments::traces) {
    read_conditions(values, syntax, options);
    read_settings(values, syntax, options);
    read_reading(values, options);
    read_steps(values, options);
  }
  if (syntax.changes_trace) read_what_if(values, options);
  if (syntax.prices_calls) read_prices(values, syntax, options);
  read_output(values, options);
  for (const OwnOption& option : syntax.own) {
    if (values.count(option.name) == 0) continue;
    options.own.set(option.name,
                    option.argument.empty() ? "" : values[option.name].as<std::string>());
  }
  return options;
}

}  // namespace fragcast
