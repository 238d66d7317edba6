#include "replay/formats/snapshot_reader.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "replay/formats/pickle/machine.hpp"
#include "replay/formats/snapshot/assemble.hpp"
#include "replay/formats/snapshot/builder.hpp"

namespace fragcast {
namespace {

/// What other files begin with, and what to do about them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> other_formats{{
    {"PK\x03\x04",
     "a zip archive, perhaps made by torch.save; dump the snapshot with "
     "torch.cuda.memory._dump_snapshot, or unpack it first"},
    {"SQLite format 3", "a database; give the .pickle file that it was made from"},
    {"{", "JSON or text; give the .pickle file"},
    {"[", "JSON or text; give the .pickle file"},
    {"version https://git-lfs", "a pointer to a file that Git LFS holds; run `git lfs pull`"},
}};

[[noreturn]] void fail_not_a_pickle(const ByteSource& source) {
  for (const auto& [begin, is_what] : other_formats) {
    if (source.window().starts_with(begin)) {
      throw InputError{source.at_byte(source.position()),
                       fmt::format("this is no memory snapshot but {}", is_what)};
    }
  }
  throw InputError{source.at_byte(source.position()),
                   "this is no memory snapshot: it does not begin as pickles of protocol 2 to 5 "
                   "do; dump it with torch.cuda.memory._dump_snapshot"};
}

/// Reads one snapshot; its members live as long as the pickle is being read.
class Reader {
 public:
  explicit Reader(ByteSource& source) : source_{source} { intern_words(tables_); }

  Recording read(const ReadOptions& options);

 private:
  [[nodiscard]] PickleObject& outermost(PickleStack& stack) const;
  void close_cut(PickleStack& stack, const ReadOptions& options);
  [[noreturn]] void fail_cut(bool has_segments) const;
  void drain();

  ByteSource& source_;
  PickleTables tables_;
  SnapshotParts parts_;
  SnapshotFields fields_{tables_, source_};
  SnapshotRecords records_{tables_, fields_, parts_};
  SnapshotBuilder builder_{fields_, records_, parts_};
};

Recording Reader::read(const ReadOptions& options) {
  // The memo, which is large, goes before the recording is put together.
  PickleObject top;
  {
    PickleStack stack{builder_};
    const PickleEnd end = run_pickle(source_, tables_, stack);
    parts_.recording.source.protocol = end.protocol;
    if (end.kind == PickleEnd::Kind::stop) drain();
    if (end.kind == PickleEnd::Kind::cut || !source_.cut().empty()) close_cut(stack, options);
    top = std::move(outermost(stack));
  }
  SourceInfo& info = parts_.recording.source;
  info.file = source_.name();
  info.wrapping = source_.wrapping();
  info.bytes = source_.position();
  return assemble(top, fields_, records_, parts_);
}

PickleObject& Reader::outermost(PickleStack& stack) const {
  PickleObject* object = stack.outermost();
  if (object == nullptr) {
    throw InputError{source_.at_byte(0),
                     "the pickle is neither a dict nor a list, as a memory snapshot would be"};
  }
  return *object;
}

/// Brings what could be read of a cut snapshot into its outermost object, or refuses it.
void Reader::close_cut(PickleStack& stack, const ReadOptions& options) {
  stack.close();
  const PickleObject* object = stack.outermost();
  const bool has_segments = object != nullptr && has_all_segments(*object);
  if (options.cut == CutSnapshot::refuse || !has_segments) fail_cut(has_segments);
  parts_.recording.cut_at = source_.read_position();
}

void Reader::fail_cut(bool has_segments) const {
  const std::string_view where = source_.cut();
  throw InputError{
      source_.at_byte(source_.read_position()),
      fmt::format("the snapshot ends here, {}; {} history entries could be read{}. Copy the file "
                  "again{}",
                  where.empty() ? "before it is complete" : fmt::format("because {} is cut", where),
                  parts_.histories.entry_count(),
                  has_segments ? " and all segments" : ", but not all segments",
                  has_segments ? ", or have what there is shown with --salvage" : "")};
}

/// Reads past what may follow a pickle, such as the zeros that pages pad it with, so that a cut in
/// the checksum of a compressed file is seen.
void Reader::drain() {
  constexpr std::uint64_t longest_tail = 1 << 20;
  const std::uint64_t end = source_.position() + longest_tail;
  while (source_.position() < end && source_.fill(1)) source_.consume(source_.window().size());
}

}  // namespace

bool looks_like_snapshot(ByteSource& source) { return begins_pickle(source); }

Recording read_snapshot(ByteSource& source, const ReadOptions& options) {
  if (!begins_pickle(source)) fail_not_a_pickle(source);
  return Reader{source}.read(options);
}

Recording read_snapshot_file(const std::string& path, const ReadOptions& options) {
  ByteSource source = open_source(path);
  return read_snapshot(source, options);
}

}  // namespace fragcast
