#include "replay/formats/script_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "replay/formats/call_site.hpp"
#include "replay/formats/script_line.hpp"
#include "replay/formats/script_reader.hpp"

namespace fragcast {
namespace {

void read_malloc(ScriptReader& reader, const ScriptLine& line) {
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

void read_free(ScriptReader& reader, const ScriptLine& line) {
  NamedAllocation& named = reader.live("free", line.word(1));
  named.freed_line = reader.line_number();
  reader.add(EventKind::deallocate).allocation = named.allocation;
}

void read_record_stream(ScriptReader& reader, const ScriptLine& line) {
  const NamedAllocation& named = reader.live("record_stream", line.word(1));
  const StreamId stream = reader.stream(line.word(2));
  Event& event = reader.add(EventKind::record_stream);
  event.allocation = named.allocation;
  event.stream = stream;
}

void read_erase_stream(ScriptReader& reader, const ScriptLine& line) {
  // A freed block may still wait for the stream, and can be let off.
  const NamedAllocation& named = reader.named(line.word(1));
  if (!named.is_known()) {
    reader.fail(fmt::format("erase_stream of {}, which was never allocated", line.word(1)));
  }
  reader.add(control::EraseStream{.allocation = named.allocation,
                                  .owner = reader.stream(line.word(3)),
                                  .stream = reader.stream(line.word(2))});
}

void read_complete_events(ScriptReader& reader, const ScriptLine& line) {
  if (line.count() == 1) {
    reader.add(EventKind::complete_all);
  } else {
    const StreamId stream = reader.stream(line.word(1));
    reader.add(EventKind::complete_events).stream = stream;
  }
}

void read_pool_create(ScriptReader& reader, const ScriptLine& line) {
  const PoolId pool = reader.pool(line.word(1));
  ++reader.use_of(pool).references;
  reader.add(control::PoolCreate{pool});
}

void read_pool_begin(ScriptReader& reader, const ScriptLine& line) {
  const PoolId pool = reader.pool(line.word(1));
  ++reader.use_of(pool).references;
  ++reader.use_of(pool).scopes;
  reader.add(control::PoolBegin{pool});
}

void read_pool_end(ScriptReader& reader, const ScriptLine& line) {
  const PoolId pool = reader.pool(line.word(1));
  if (reader.use_of(pool).scopes == 0) {
    reader.fail(
        fmt::format("pool_end {0} without an open scope: pool_begin {0} opens one", pool.value()));
  }
  --reader.use_of(pool).scopes;
  reader.add(control::PoolEnd{pool});
}

void read_pool_release(ScriptReader& reader, const ScriptLine& line) {
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
void read_pool_switch(ScriptReader& reader, const ScriptLine& line) {
  const std::string_view flag = line.count() > 2 ? line.word(2) : "1";
  if (flag != "0" && flag != "1") {
    reader.fail(fmt::format("{} takes 0 or 1 after the pool, not {}", line.word(0), flag));
  }
  reader.add(Call{.pool = reader.pool(line.word(1)), .enabled = flag == "1"});
}

void read_capture_end(ScriptReader& reader, const ScriptLine&) {
  if (reader.open_captures() == 0) {
    reader.fail("capture_end without an open capture: capture_begin opens one");
  }
  --reader.open_captures();
  reader.add(control::CaptureEnd{});
}

void read_mark(ScriptReader& reader, const ScriptLine& line) {
  std::vector<std::string>& labels = reader.trace().labels;
  const auto detail = static_cast<std::uint32_t>(labels.size());
  labels.push_back(unescape(line.whole_rest()));
  reader.add_note(EventKind::mark).detail = detail;
}

void read_events(ScriptReader& reader, const ScriptLine& line) {
  const std::string_view how = line.word(1);
  if (how != "instant" && how != "deferred") {
    reader.fail(fmt::format("events are instant or deferred, not {}", how));
  }
  reader.trace().conditions.instant_events = how == "instant";
}

void read_soc(ScriptReader& reader, const ScriptLine& line) {
  const std::string_view soc = line.word(1);
  if (soc != "ascend910b" && soc != "ascend950") {
    reader.fail(fmt::format("soc {} is unknown: ascend910b and ascend950 are known", soc));
  }
  reader.trace().conditions.soc = soc;
}

void read_pool_empty(ScriptReader& reader, const ScriptLine& line) {
  reader.add(control::PoolEmpty{reader.pool(line.word(1))});
}

void read_capture_begin(ScriptReader& reader, const ScriptLine&) {
  ++reader.open_captures();
  reader.add(control::CaptureBegin{});
}

void read_settings(ScriptReader& reader, const ScriptLine& line) {
  reader.add(control::ChangeSettings{.text = std::string{line.rest()}});
}

void read_set_fraction(ScriptReader& reader, const ScriptLine& line) {
  reader.add(control::SetFraction{.fraction = reader.fraction(line.word(1))});
}

void read_step(ScriptReader& reader, const ScriptLine&) { reader.add_note(EventKind::step); }

void read_conf(ScriptReader& reader, const ScriptLine& line) {
  reader.trace().conditions.settings = line.rest();
}

void read_device_memory(ScriptReader& reader, const ScriptLine& line) {
  reader.trace().conditions.device_memory = reader.size(line.word(1));
}

void read_fraction(ScriptReader& reader, const ScriptLine& line) {
  reader.trace().conditions.fraction = reader.fraction(line.word(1));
}

template <EventKind Kind>
void add_event(ScriptReader& reader, const ScriptLine&) {
  reader.add(Kind);
}

template <class Call>
void add_bare(ScriptReader& reader, const ScriptLine&) {
  reader.add(Call{});
}

using enum FormKind;
constexpr std::size_t any = ~std::size_t{0};

constexpr auto forms = std::to_array<ScriptForm>({
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
    {"pool_empty", " POOL", call, 1, 1, read_pool_empty},
    {"pool_use_on_oom", " POOL [0|1]", call, 1, 2, read_pool_switch<control::PoolUseOnOom>},
    {"pool_no_split", " POOL [0|1]", call, 1, 2, read_pool_switch<control::PoolNoSplit>},
    {"capture_begin", "", call, 0, 0, read_capture_begin},
    {"capture_end", "", call, 0, 0, read_capture_end},
    {"settings", " KEY:VALUE,…", call, 0, any, read_settings},
    {"set_fraction", " FRACTION", call, 1, 1, read_set_fraction},
    {"cache_info", "", call, 0, 0, add_event<EventKind::cache_info>},
    {"snapshot", "", call, 0, 0, add_event<EventKind::snapshot>},
    {"mark", " TEXT", note, 1, any, read_mark},
    {"step", "", note, 0, 0, read_step},
    {"conf", " KEY:VALUE,…", header, 0, any, read_conf},
    {"device_memory", " SIZE", header, 1, 1, read_device_memory},
    {"fraction", " FRACTION", header, 1, 1, read_fraction},
    {"events", " instant|deferred", header, 1, 1, read_events},
    {"soc", " ascend910b|ascend950", header, 1, 1, read_soc},
});

}  // namespace

std::span<const ScriptForm> script_forms() { return forms; }

const ScriptForm* find_script_form(std::string_view word) {
  const auto found = std::find_if(
      forms.begin(), forms.end(), [word](const ScriptForm& form) { return form.word == word; });
  return found == forms.end() ? nullptr : &*found;
}

}  // namespace fragcast
