#include <array>
#include <cctype>
#include <utility>

#include "replay/formats/bytes/wrappings.hpp"

namespace fragcast {
namespace {

struct Wrapping {
  std::string_view name;
  bool (*begins)(std::string_view);
  std::unique_ptr<ByteStream> (*remove)(ByteSource);
};

bool begins_page(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
    text.remove_prefix(1);
  }
  return text.starts_with('<');
}

constexpr std::array<Wrapping, 3> wrappings{{
    {"gzip", [](std::string_view s) { return s.starts_with("\x1f\x8b"); }, gunzip},
    {"zstd", [](std::string_view s) { return s.starts_with("\x28\xb5\x2f\xfd"); }, unzstd},
    {"html", begins_page, embedded_file},
}};

const Wrapping* wrapping_of(std::string_view window) {
  for (const Wrapping& wrapping : wrappings) {
    if (wrapping.begins(window)) return &wrapping;
  }
  return nullptr;
}

}  // namespace

ByteSource unwrap(ByteSource source) {
  constexpr std::size_t looked_at = 256;
  constexpr int deepest = 4;
  if (!source.fill(1)) {
    throw InputError{{.file = source.name(), .line = {}, .byte = {}},
                     "is empty; record it again, or copy it again"};
  }
  for (int depth = 0;; ++depth) {
    source.fill(looked_at);
    const Wrapping* wrapping = wrapping_of(source.window());
    if (wrapping == nullptr) return source;
    if (depth == deepest) {
      throw InputError{source.at_byte(0), "is packed more than four times over; unpack it"};
    }
    std::string name = source.name();
    std::string names{wrapping->name};
    if (!source.wrapping().empty()) names += " in " + source.wrapping();
    source = ByteSource{wrapping->remove(std::move(source)), std::move(name)};
    source.set_wrapping(std::move(names));
  }
}

}  // namespace fragcast
