#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fragcast {

/// Who writes a pickle: they differ in opcodes, batches and memo.
enum class Pickler : std::uint8_t {
  python_4,   ///< Python's default, as PickleWriter writes it
  python_5,   ///< the same under the newest number
  torch_jit,  ///< torch::jit::Pickler: protocol 2, no batches, 8 bytes for every long integer
};

/// The pickle of a Python literal: dicts, lists, pairs of integers, integers, floats, 'texts',
/// True, False, None. `$name=` before a dict or a list names it, `$name` is that object again:
///
///     pickled("[$trace=[{'action': 'snapshot'}], $trace]")
[[nodiscard]] std::string pickled(std::string_view literal, Pickler pickler = Pickler::python_4);

}  // namespace fragcast
