#include <cstddef>
#include <cstdint>
#include <string_view>

#include "replay/formats/snapshot_reader.hpp"

// The snapshot reader with its wrappings: any bytes are a recording or are refused, cut or not.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  for (const auto cut : {fragcast::CutSnapshot::refuse, fragcast::CutSnapshot::salvage}) {
    try {
      fragcast::ByteSource source = fragcast::open_source(bytes, "input");
      (void)fragcast::read_snapshot(source, {.cut = cut});
    } catch (const fragcast::InputError&) {
    }
  }
  return 0;
}
