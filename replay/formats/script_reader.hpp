#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "replay/formats/allocation_names.hpp"
#include "replay/formats/input_error.hpp"
#include "replay/formats/script_forms.hpp"
#include "replay/formats/script_line.hpp"
#include "replay/trace/trace.hpp"
#include "sim/core/dense_map.hpp"

namespace fragcast {

/// One call script being read: the trace so far, and the vocabulary in which its forms are written.
/// Everything throws InputError at the current line for what cannot be used.
class ScriptReader {
 public:
  /// `file` must outlive the reader.
  explicit ScriptReader(const std::string& file) : file_{file} {}

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
  Event& add_note(EventKind kind);

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

  /// What is open, so that ends without a beginning are found.
  struct PoolUse {
    std::uint32_t references = 0;
    std::uint32_t scopes = 0;
  };
  [[nodiscard]] PoolUse& use_of(PoolId id) { return pools_[id]; }
  [[nodiscard]] std::uint32_t& open_captures() { return open_captures_; }

  [[noreturn]] void fail(const std::string& sentence) const { throw InputError{here(), sentence}; }

 private:
  [[nodiscard]] InputPosition here() const { return {.file = file_, .line = line_, .byte = {}}; }
  void check_words(const ScriptForm& form, const ScriptLine& line) const;
  void check_header(const ScriptForm& form);

  const std::string& file_;
  std::uint32_t line_ = 0;
  std::uint32_t calls_ = 0;
  bool header_is_over_ = false;
  /// The line of each header word that was given.
  std::unordered_map<std::string_view, std::uint32_t> header_lines_;
  Trace trace_;
  AllocationNames names_;
  std::unordered_map<std::string, StackId> sites_;
  DenseMap<PoolId, PoolUse> pools_;
  std::uint32_t open_captures_ = 0;
};

}  // namespace fragcast
