#include <cstddef>
#include <cstdint>
#include <string_view>

#include "replay/formats/input_error.hpp"
#include "tests/support/pickle_text.hpp"

// The pickle machine alone: any bytes are a pickle, are cut, or are refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    (void)fragcast::load_pickle(bytes);
  } catch (const fragcast::InputError&) {
  }
  return 0;
}
