#pragma once

#include <cstdint>

#include "replay/formats/byte_source.hpp"
#include "replay/formats/pickle/stack.hpp"
#include "replay/formats/pickle/tables.hpp"

namespace fragcast {

/// How a pickle ended.
struct PickleEnd {
  enum class Kind : std::uint8_t {
    stop,  ///< it is whole
    cut,   ///< the input ended first
  };
  Kind kind = Kind::stop;
  /// 2 to 5; 0 if the pickle was cut before it said.
  int protocol = 0;
};

/// Whether a pickle of protocol 2 to 5 begins at the source's window.
[[nodiscard]] bool begins_pickle(ByteSource& source);

/// Runs the pickle that begins at the source's window, and leaves the source behind it. Only plain
/// data of protocols 2 to 5 can be made: dicts, lists, tuples, texts, numbers; opcodes that name or
/// call code are refused. Throws InputError, with the position of the opcode at fault.
[[nodiscard]] PickleEnd run_pickle(ByteSource& source, PickleTables& tables, PickleStack& stack);

}  // namespace fragcast
