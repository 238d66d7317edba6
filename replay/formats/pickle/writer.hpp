#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "replay/formats/pickle/value.hpp"
#include "replay/trace/text_table.hpp"
#include "sim/core/strong_id.hpp"

namespace fragcast {

/// Writes a pickle of protocol 4, as Python's pickler would: every object and text is memoised,
/// long lists come in batches. Python's `pickle` and memory_viz read it; it names no globals.
///
///     PickleWriter writer{file};
///     writer.begin_dict();
///     writer.key("segments");
///     writer.begin_list();
///     ...
///     writer.end_list();
///     writer.end_dict();
///     writer.finish();
class PickleWriter {
 public:
  /// Names an object that was written, to be referred to again.
  using Reference = StrongId<struct PickleReferenceTag>;

  /// `out` must be binary and outlive the writer; whether it took everything is for the caller to
  /// ask of it.
  explicit PickleWriter(std::ostream& out);

  void none();
  void boolean(bool value);
  void integer(std::int64_t value);
  /// Above 2^63 − 1, too.
  void natural(std::uint64_t value);
  void real(double value);
  /// UTF-8. Written once, and referred to from then on.
  void text(std::string_view value);
  /// A tuple of two integers.
  void pair(std::int64_t first, std::int64_t second);

  Reference begin_list();
  void end_list();
  /// Its items are keys, each followed by a value.
  Reference begin_dict();
  void key(std::string_view name);
  void end_dict();

  /// An object again, which must be complete.
  void again(Reference object);

  /// Ends the pickle, whose one value must be complete.
  void finish();

 private:
  struct Container {
    char end_of_batch = 0;
    std::size_t items = 0;
  };

  void begin_value();
  void begin_item(Container& container);
  void end_container();
  Reference memoize();
  void flush();
  template <class Number>
  void put(Number number);
  void put_code(unsigned char code) { frame_.push_back(static_cast<char>(code)); }

  std::ostream& out_;
  /// What was not written yet.
  std::string frame_;
  std::vector<Container> open_;
  std::uint32_t memo_size_ = 0;
  TextTable<PickleText> texts_;
  std::vector<Reference> text_references_;
};

}  // namespace fragcast
