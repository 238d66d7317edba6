#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <istream>
#include <string>
#include <unordered_map>
#include <utility>

#include "replay/formats/allocation_names.hpp"
#include "replay/formats/call_script.hpp"
#include "replay/formats/call_site.hpp"
#include "replay/formats/input_error.hpp"
#include "replay/formats/script_line.hpp"
#include "replay/trace/quantity.hpp"
#include "sim/core/dense_map.hpp"

namespace fragcast {
namespace {

class Reader;

enum class FormKind : std::uint8_t { header, call, note };

/// A line that begins with one word of the grammar.
struct Form {
  std::string_view word;
  /// What follows the word, for messages.
  std::string_view arguments;
  FormKind kind = FormKind::call;
  /// How many words may follow.
  std::size_t least = 0;
  std::size_t most = 0;
  void (*read)(Reader& reader, const ScriptLine& line) = nullptr;
};

const Form* find_form(std::string_view word);

/// One script being read: the trace so far, and the vocabulary in which the forms are written.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_{file} {}

  void read_line(std::string_view text);
  [[nodiscard]] Trace take_trace();

  /// Adds a call; it takes the next number. The reference is valid until the next is added.
  Event& add(EventKind kind) {
    Event& event = add_note(kind);
    ++calls_;
    return event;
  }
  void add(Control control);
  /// Adds an event that is no call. It has the number of the call after it, and shifts none.
  Event& add_note(EventKind kind) {
    Event event;
    event.source = calls_;
    event.kind = kind;
    trace_.events.push_back(event);
    return trace_.events.back();
  }

  [[nodiscard]] Trace& trace() { return trace_; }
  [[nodiscard]] std::uint32_t line_number() const { return line_; }
  /// The entry of `name`, new or not.
  [[nodiscard]] NamedAllocation& named(std::string_view name) { return names_[name]; }
  /// The entry of `name`, which must be live; `call` is what needs it.
  [[nodiscard]] NamedAllocation& live(std::string_view call, std::string_view name);

  [[nodiscard]] Bytes size(std::string_view word) const;
  [[nodiscard]] StreamId stream(std::string_view word) const;
  [[nodiscard]] PoolId pool(std::string_view word) const;
  [[nodiscard]] double fraction(std::string_view word) const;
  [[nodiscard]] StackId site(std::string_view word);

  [[noreturn]] void fail(const std::string& sentence) const { throw InputError{here(), sentence}; }

  /// What is open, so that ends without a beginning are found.
  struct PoolUse {
    std::uint32_t references = 0;
    std::uint32_t scopes = 0;
  };
  [[nodiscard]] PoolUse& use_of(PoolId id) { return pools_[id]; }
  std::uint32_t open_captures = 0;

 private:
  [[nodiscard]] InputPosition here() const { return {.file = file_, .line = line_, .byte = {}}; }
  void check_words(const Form& form, const ScriptLine& line) const;
  void check_header(const Form& form);

  const std::string& file_;
  std::uint32_t line_ = 0;
  std::uint32_t calls_ = 0;
  bool header_is_over_ = false;
  /// The line of each header word that was given.
  std::unordered_map<const Form*, std::uint32_t> header_lines_;
  Trace trace_;
  AllocationNames names_;
  std::unordered_map<std::string, StackId> sites_;
  DenseMap<PoolId, PoolUse> pools_;
};

// ---- the forms
// -----------------------------------------------------------------------------------

void read_malloc(Reader& reader, const ScriptLine& line) {
  NamedAllocation& named = reader.named(line.word(1));
  if (named.is_live()) {
    reader.fail(
        fmt::format("malloc of {}, which is live since line {}: free it first, or take "
                    "another name",
                    line.word(1),
                    named.allocated_line));
  }
  const Bytes size = reader.size(line.word(2));
  const StreamId stream = reader.stream(line.word(3));
  const StackId stack = line.count() > 4 ? reader.site(line.word(4)) : StackId{};

  named = {.allocation = AllocationId{reader.trace().allocations.size()},
           .allocated_line = reader.line_number(),
           .freed_line = 0};
  reader.trace().allocations.push_back({.stack = stack});
  Event& event = reader.add(EventKind::allocate);
  event.size = size;
  event.allocation = named.allocation;
  event.stream = stream;
}

void read_free(Reader& reader, const ScriptLine& line) {
  NamedAllocation& named = reader.live("free", line.word(1));
  named.freed_line = reader.line_number();
  reader.add(EventKind::deallocate).allocation = named.allocation;
}

void read_record_stream(Reader& reader, const ScriptLine& line) {
  const NamedAllocation& named = reader.live("record_stream", line.word(1));
  const StreamId stream = reader.stream(line.word(2));
  Event& event = reader.add(EventKind::record_stream);
  event.allocation = named.allocation;
  event.stream = stream;
}

void read_erase_stream(Reader& reader, const ScriptLine& line) {
  // A freed block may still wait for the stream, and can be let off.
  const NamedAllocation& named = reader.named(line.word(1));
  if (!named.is_known()) {
    reader.fail(fmt::format("erase_stream of {}, which was never allocated", line.word(1)));
  }
  reader.add(control::EraseStream{.allocation = named.allocation,
                                  .owner = reader.stream(line.word(3)),
                                  .stream = reader.stream(line.word(2))});
}

void read_complete_events(Reader& reader, const ScriptLine& line) {
  if (line.count() == 1) {
    reader.add(EventKind::complete_all);
  } else {
    const StreamId stream = reader.stream(line.word(1));
    reader.add(EventKind::complete_events).stream = stream;
  }
}

void read_pool_create(Reader& reader, const ScriptLine& line) {
  const PoolId pool = reader.pool(line.word(1));
  ++reader.use_of(pool).references;
  reader.add(control::PoolCreate{pool});
}

void read_pool_begin(Reader& reader, const ScriptLine& line) {
  const PoolId pool = reader.pool(line.word(1));
  ++reader.use_of(pool).references;
  ++reader.use_of(pool).scopes;
  reader.add(control::PoolBegin{pool});
}

void read_pool_end(Reader& reader, const ScriptLine& line) {
  const PoolId pool = reader.pool(line.word(1));
  if (reader.use_of(pool).scopes == 0) {
    reader.fail(
        fmt::format("pool_end {0} without an open scope: pool_begin {0} opens one", pool.value()));
  }
  --reader.use_of(pool).scopes;
  reader.add(control::PoolEnd{pool});
}

void read_pool_release(Reader& reader, const ScriptLine& line) {
  const PoolId pool = reader.pool(line.word(1));
  if (reader.use_of(pool).references == 0) {
    reader.fail(
        fmt::format("pool_release {0} without a use left: each pool_create {0} and "
                    "pool_begin {0} adds one",
                    pool.value()));
  }
  --reader.use_of(pool).references;
  reader.add(control::PoolRelease{pool});
}

/// A call that turns something on for a pool, or with a last word of 0 off.
template <class Call>
void read_pool_switch(Reader& reader, const ScriptLine& line) {
  const std::string_view flag = line.count() > 2 ? line.word(2) : "1";
  if (flag != "0" && flag != "1") {
    reader.fail(fmt::format("{} takes 0 or 1 after the pool, not {}", line.word(0), flag));
  }
  reader.add(Call{.pool = reader.pool(line.word(1)), .enabled = flag == "1"});
}

void read_capture_end(Reader& reader, const ScriptLine&) {
  if (reader.open_captures == 0) {
    reader.fail("capture_end without an open capture: capture_begin opens one");
  }
  --reader.open_captures;
  reader.add(control::CaptureEnd{});
}

void read_mark(Reader& reader, const ScriptLine& line) {
  std::vector<std::string>& labels = reader.trace().labels;
  const auto detail = static_cast<std::uint32_t>(labels.size());
  labels.push_back(unescape(line.whole_rest()));
  reader.add_note(EventKind::mark).detail = detail;
}

void read_events(Reader& reader, const ScriptLine& line) {
  const std::string_view how = line.word(1);
  if (how != "instant" && how != "deferred") {
    reader.fail(fmt::format("events are instant or deferred, not {}", how));
  }
  reader.trace().conditions.instant_events = how == "instant";
}

void read_soc(Reader& reader, const ScriptLine& line) {
  const std::string_view soc = line.word(1);
  if (soc != "ascend910b" && soc != "ascend950") {
    reader.fail(fmt::format("soc {} is unknown: ascend910b and ascend950 are known", soc));
  }
  reader.trace().conditions.soc = soc;
}

template <class Call>
void add_bare(Reader& reader, const ScriptLine&) {
  reader.add(Call{});
}

using enum FormKind;
constexpr std::size_t any = ~std::size_t{0};

constexpr auto forms = std::to_array<Form>({
    {"malloc", " ID SIZE STREAM [@FILE:LINE:FUNCTION;…]", call, 3, 4, read_malloc},
    {"free", " ID", call, 1, 1, read_free},
    {"record_stream", " ID STREAM", call, 2, 2, read_record_stream},
    {"erase_stream", " ID STREAM OWN-STREAM", call, 3, 3, read_erase_stream},
    {"complete_events", " [STREAM]", call, 0, 1, read_complete_events},
    {"sync", "", call, 0, 0, add_bare<control::Synchronize>},
    {"empty_cache", "", call, 0, 0, add_bare<control::EmptyCache>},
    {"empty_virt_addr_cache", "", call, 0, 0, add_bare<control::EmptyVirtualAddressCache>},
    {"reset_peak", "", call, 0, 0, add_bare<control::ResetPeak>},
    {"reset_accumulated", "", call, 0, 0, add_bare<control::ResetAccumulated>},
    {"pool_create", " POOL", call, 1, 1, read_pool_create},
    {"pool_begin", " POOL", call, 1, 1, read_pool_begin},
    {"pool_end", " POOL", call, 1, 1, read_pool_end},
    {"pool_release", " POOL", call, 1, 1, read_pool_release},
    {"pool_empty",
     " POOL",
     call,
     1,
     1,
     [](Reader& reader, const ScriptLine& line) {
       reader.add(control::PoolEmpty{reader.pool(line.word(1))});
     }},
    {"pool_use_on_oom", " POOL [0|1]", call, 1, 2, read_pool_switch<control::PoolUseOnOom>},
    {"pool_no_split", " POOL [0|1]", call, 1, 2, read_pool_switch<control::PoolNoSplit>},
    {"capture_begin",
     "",
     call,
     0,
     0,
     [](Reader& reader, const ScriptLine&) {
       ++reader.open_captures;
       reader.add(control::CaptureBegin{});
     }},
    {"capture_end", "", call, 0, 0, read_capture_end},
    {"settings",
     " KEY:VALUE,…",
     call,
     0,
     any,
     [](Reader& reader, const ScriptLine& line) {
       reader.add(control::ChangeSettings{.text = std::string{line.rest()}});
     }},
    {"set_fraction",
     " FRACTION",
     call,
     1,
     1,
     [](Reader& reader, const ScriptLine& line) {
       reader.add(control::SetFraction{.fraction = reader.fraction(line.word(1))});
     }},
    {"cache_info",
     "",
     call,
     0,
     0,
     [](Reader& reader, const ScriptLine&) { reader.add(EventKind::cache_info); }},
    {"snapshot",
     "",
     call,
     0,
     0,
     [](Reader& reader, const ScriptLine&) { reader.add(EventKind::snapshot); }},
    {"mark", " TEXT", note, 1, any, read_mark},
    {"step",
     "",
     note,
     0,
     0,
     [](Reader& reader, const ScriptLine&) { reader.add_note(EventKind::step); }},
    {"conf",
     " KEY:VALUE,…",
     header,
     0,
     any,
     [](Reader& reader, const ScriptLine& line) {
       reader.trace().conditions.settings = line.rest();
     }},
    {"device_memory",
     " SIZE",
     header,
     1,
     1,
     [](Reader& reader, const ScriptLine& line) {
       reader.trace().conditions.device_memory = reader.size(line.word(1));
     }},
    {"fraction",
     " FRACTION",
     header,
     1,
     1,
     [](Reader& reader, const ScriptLine& line) {
       reader.trace().conditions.fraction = reader.fraction(line.word(1));
     }},
    {"events", " instant|deferred", header, 1, 1, read_events},
    {"soc", " ascend910b|ascend950", header, 1, 1, read_soc},
});

const Form* find_form(std::string_view word) {
  const auto found = std::find_if(
      forms.begin(), forms.end(), [word](const Form& form) { return form.word == word; });
  return found == forms.end() ? nullptr : &*found;
}

std::string all_words() {
  std::string list;
  for (const Form& form : forms) {
    if (!list.empty()) list += ", ";
    list += form.word;
  }
  return list;
}

// ---- the reader
// ----------------------------------------------------------------------------------

void Reader::read_line(std::string_view text) {
  ++line_;
  const ScriptLine line{text};
  if (line.empty()) return;
  const Form* form = find_form(line.word(0));
  if (form == nullptr) {
    fail(fmt::format("'{}' begins no line of a call script: {} do", line.word(0), all_words()));
  }
  check_words(*form, line);
  if (form->kind == header) {
    check_header(*form);
  } else {
    header_is_over_ = true;
  }
  form->read(*this, line);
}

Trace Reader::take_trace() {
  trace_.source_entries = calls_;
  return std::move(trace_);
}

void Reader::add(Control control) {
  const auto detail = static_cast<std::uint32_t>(trace_.controls.size());
  trace_.controls.push_back(std::move(control));
  add(EventKind::control).detail = detail;
}

void Reader::check_words(const Form& form, const ScriptLine& line) const {
  const std::size_t given = line.count() - 1;
  if (given >= form.least && given <= form.most) return;
  fail(fmt::format("{} words follow {}: write {}{}", given, form.word, form.word, form.arguments));
}

void Reader::check_header(const Form& form) {
  if (header_is_over_) {
    fail(fmt::format("{} is a header line: it must stand before the first call", form.word));
  }
  const auto [found, is_new] = header_lines_.try_emplace(&form, line_);
  if (!is_new) fail(fmt::format("{} was already given at line {}", form.word, found->second));
}

NamedAllocation& Reader::live(std::string_view call_word, std::string_view name) {
  NamedAllocation* named = names_.find(name);
  if (named == nullptr) {
    fail(fmt::format("{} of {}, which was never allocated", call_word, name));
  }
  if (!named->is_live()) {
    fail(fmt::format("{} of {}, which is not live (allocated at line {}, freed at line {})",
                     call_word,
                     name,
                     named->allocated_line,
                     named->freed_line));
  }
  return *named;
}

Bytes Reader::size(std::string_view word) const {
  // Nearly all sizes are plain bytes, and a position for messages costs more than reading them.
  std::int64_t bytes = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), bytes);
  if (error == std::errc{} && end == word.data() + word.size() && bytes >= 0 &&
      Bytes{bytes} <= largest_size) {
    return Bytes{bytes};
  }
  return parse_size(word, here());
}

StreamId Reader::stream(std::string_view word) const {
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size()) {
    fail(fmt::format("'{}' is no stream: streams are numbered 0 to 65535", word));
  }
  return StreamId{number};
}

PoolId Reader::pool(std::string_view word) const {
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size() || number == 0) {
    fail(fmt::format("'{}' is no private pool: they are numbered 1 to 65535", word));
  }
  return PoolId{std::uint32_t{number}};
}

double Reader::fraction(std::string_view word) const {
  double value = -1.0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || !(value >= 0.0 && value <= 1.0)) {
    fail(fmt::format("'{}' is no fraction: write a number from 0 to 1, such as 0.9", word));
  }
  return value;
}

StackId Reader::site(std::string_view word) {
  if (word.front() != '@') {
    fail(fmt::format("'{}' follows a whole malloc: a call site begins with @", word));
  }
  const std::string text{word.substr(1)};
  const auto [entry, is_new] = sites_.try_emplace(text);
  if (is_new) {
    const auto stack = parse_call_site(text, trace_.stacks);
    if (!stack) {
      fail(
          fmt::format("'{}' is no call site: write FILE:LINE:FUNCTION, several joined by ;", text));
    }
    entry->second = *stack;
  }
  return entry->second;
}

}  // namespace

Trace read_call_script(const LineSource& next_line, const std::string& file) {
  Reader reader{file};
  while (const auto line = next_line()) reader.read_line(*line);
  return reader.take_trace();
}

Trace read_call_script(std::istream& input, const std::string& file) {
  std::string line;
  return read_call_script(
      [&]() -> std::optional<std::string_view> {
        if (!std::getline(input, line)) return std::nullopt;
        return line;
      },
      file);
}

bool looks_like_call_script(std::string_view beginning) {
  while (!beginning.empty()) {
    const std::size_t end = std::min(beginning.find('\n'), beginning.size());
    const ScriptLine line{beginning.substr(0, end)};
    if (!line.empty()) return find_form(line.word(0)) != nullptr;
    beginning.remove_prefix(std::min(end + 1, beginning.size()));
  }
  return false;
}

}  // namespace fragcast
