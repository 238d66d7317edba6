#include "policies/caching/settings_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace fragcast {
namespace {

using Tokens = std::vector<std::string>;

bool is_special(char c) { return c == ',' || c == ':' || c == '[' || c == ']'; }

// Blanks are dropped even inside a word, as upstream does: "64 max" is the word "64max".
Tokens tokenize(std::string_view text, std::string_view blanks) {
  Tokens tokens;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) tokens.push_back(std::exchange(word, {}));
  };
  for (const char c : text) {
    if (is_special(c)) {
      end_word();
      tokens.emplace_back(1, c);
    } else if (blanks.find(c) == std::string_view::npos) {
      word += c;
    }
  }
  end_word();
  return tokens;
}

/// Whether the string is read by a starting or by a running program.
enum class ParseTime : std::uint8_t { start, run };

/// One `key:value` of a string, found but not yet read.
struct Entry {
  const SettingKey* key = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Cuts a string into entries, refusing keys that the grammar does not have.
class EntryFinder {
 public:
  EntryFinder(const SettingsGrammar& grammar, const Tokens& tokens, ParseTime when)
      : grammar_{grammar}, tokens_{tokens}, when_{when} {}

  std::optional<SettingsRefusal> run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const SettingKey* key = find(tokens_[i]);
      if (auto refusal = refuse_key(tokens_[i], key)) return refusal;
      if (auto refusal = add_entry(*key, i + 2)) return refusal;
      if (auto refusal = check_separators(i + 1)) return refusal;
      i = entries_.back().end;
    }
    warn_of_repetition();
    return std::nullopt;
  }

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] std::vector<std::string>& warnings() { return warnings_; }

 private:
  [[nodiscard]] const SettingKey* find(const std::string& name) const {
    const auto found = std::find_if(grammar_.keys.begin(),
                                    grammar_.keys.end(),
                                    [&](const SettingKey& key) { return key.name == name; });
    return found == grammar_.keys.end() ? nullptr : &*found;
  }

  [[nodiscard]] bool changes_at_run_time(std::string_view name) const {
    const auto& keys = grammar_.run_time_keys;
    return keys.empty() || std::find(keys.begin(), keys.end(), name) != keys.end();
  }

  std::optional<SettingsRefusal> refuse_key(const std::string& name, const SettingKey* key) const {
    if (key == nullptr) {
      return SettingsRefusal{
          fmt::format("{}{}{}", grammar_.unknown_key, name, grammar_.unknown_key_end)};
    }
    if (when_ == ParseTime::run && !changes_at_run_time(key->name)) {
      return SettingsRefusal{
          fmt::format("{} unsupported setting: {}", grammar_.run_time_call, name)};
    }
    return std::nullopt;
  }

  std::optional<SettingsRefusal> add_entry(const SettingKey& key, std::size_t begin) {
    if (begin >= tokens_.size()) {
      return SettingsRefusal{
          fmt::format("{} needs a value, such as {}:{}", key.name, key.name, key.example)};
    }
    std::size_t last = begin;
    if (tokens_[begin] == "[") {
      while (last < tokens_.size() && tokens_[last] != "]") ++last;
      if (last == tokens_.size()) {
        return SettingsRefusal{fmt::format("the list of {} has no end: close it with ]", key.name)};
      }
    }
    entries_.push_back({.key = &key, .begin = begin, .end = last + 1});
    return std::nullopt;
  }

  /// Looks at the separators of the latest entry: the one before its value, those inside a list,
  /// and the one behind it.
  std::optional<SettingsRefusal> check_separators(std::size_t before_value) {
    const Entry& entry = entries_.back();
    auto refusal = expect(before_value, ':', *entry.key);
    if (grammar_.separators == Separators::checked && tokens_[entry.begin] == "[") {
      for (std::size_t i = entry.begin + 2; !refusal && i < entry.end - 1; i += 2) {
        const bool within_pair = (i - entry.begin) % 4 == 2;
        refusal = expect(i, within_pair ? ':' : ',', *entry.key);
      }
    }
    if (!refusal && entry.end < tokens_.size()) refusal = expect(entry.end, ',', *entry.key);
    return refusal;
  }

  // From 2.9 on torch looks at separators and throws the answer away (ConfigTokenizer::checkToken).
  std::optional<SettingsRefusal> expect(std::size_t i, char separator, const SettingKey& key) {
    const std::string wanted(1, separator);
    if (tokens_[i] == wanted) return std::nullopt;
    if (grammar_.separators == Separators::checked) {
      return SettingsRefusal{
          fmt::format("Error parsing CachingAllocator settings, expected {}", wanted)};
    }
    warnings_.push_back(fmt::format("'{}' near {} is taken for '{}': the allocator does not look",
                                    tokens_[i],
                                    key.name,
                                    wanted));
    return std::nullopt;
  }

  void warn_of_repetition() {
    for (const SettingKey& key : grammar_.keys) {
      const auto times = std::count_if(
          entries_.begin(), entries_.end(), [&](const Entry& e) { return e.key == &key; });
      if (times > 1) {
        warnings_.push_back(
            fmt::format("{} is given {} times: the last one counts", key.name, times));
      }
    }
  }

  const SettingsGrammar& grammar_;
  const Tokens& tokens_;
  ParseTime when_;
  std::vector<Entry> entries_;
  std::vector<std::string> warnings_;
};

// Upstream resets these on every parse, at run time too, so that leaving one out unsets it
// (AcceleratorAllocatorConfig::parseArgs).
void reset_on_every_parse(AllocatorSettings& settings, const AllocatorSettings& defaults) {
  settings.max_split_size = defaults.max_split_size;
  settings.roundup_power2_divisions = defaults.roundup_power2_divisions;
  settings.garbage_collection_threshold = defaults.garbage_collection_threshold;
}

SettingsResult parse(const SettingsGrammar& grammar,
                     const AllocatorSettings& start,
                     std::string_view text,
                     ParseTime when) {
  ParsedSettings parsed{.settings = start, .warnings = {}};
  if (text.empty()) return parsed;

  const Tokens tokens = tokenize(text, grammar.blanks);
  EntryFinder finder{grammar, tokens, when};
  if (auto refusal = finder.run()) return *std::move(refusal);
  parsed.warnings = std::move(finder.warnings());

  reset_on_every_parse(parsed.settings, grammar.defaults);
  for (const SettingStage stage :
       {SettingStage::segment_size, SettingStage::common, SettingStage::device_specific}) {
    for (const Entry& entry : finder.entries()) {
      if (entry.key->stage != stage) continue;
      const SettingValue value{
          .key = *entry.key,
          .tokens = std::span{tokens}.subspan(entry.begin, entry.end - entry.begin),
          .index = entry.begin};
      if (auto refusal = entry.key->read(value, parsed)) return *std::move(refusal);
    }
    if (stage == SettingStage::segment_size &&
        grammar.unset_non_split_rounding == UnsetNonSplitRounding::follows_segment_size) {
      parsed.settings.max_non_split_rounding = parsed.settings.large_segment_size;
    }
  }
  if (auto refusal = grammar.check_together(parsed)) return *std::move(refusal);
  return parsed;
}

}  // namespace

SettingsResult parse_settings(const SettingsGrammar& grammar, std::string_view text) {
  return parse(grammar, grammar.defaults, text, ParseTime::start);
}

SettingsResult apply_runtime_settings(const SettingsGrammar& grammar,
                                      const AllocatorSettings& current,
                                      std::string_view text) {
  return parse(grammar, current, text, ParseTime::run);
}

std::string canonical_text(const SettingsGrammar& grammar, const AllocatorSettings& settings) {
  std::string text;
  for (const SettingKey& key : grammar.keys) {
    if (key.write == nullptr) continue;
    const std::string value = key.write(settings);
    if (value == key.default_text) continue;
    if (!text.empty()) text += ',';
    text += fmt::format("{}:{}", key.name, value);
  }
  return text;
}

}  // namespace fragcast
