#include "tests/support/wrapped.hpp"

#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <stdexcept>

namespace fragcast {
namespace {

std::string base64(std::string_view bytes) {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = i; j < i + 3; ++j) {
      group = group << 8 | (j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0U);
    }
    for (int shift = 18; shift >= 0; shift -= 6) text += alphabet[group >> shift & 63];
  }
  return text;
}

}  // namespace

std::string gzipped(std::string_view bytes) {
  z_stream deflater = {};
  constexpr int gzip_header = 16;
  if (deflateInit2(&deflater, 6, Z_DEFLATED, MAX_WBITS + gzip_header, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw std::runtime_error{"zlib does not start"};
  }
  std::string result(deflateBound(&deflater, static_cast<uLong>(bytes.size())) + 32, '\0');
  deflater.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  deflater.avail_in = static_cast<uInt>(bytes.size());
  deflater.next_out = reinterpret_cast<Bytef*>(result.data());
  deflater.avail_out = static_cast<uInt>(result.size());
  deflate(&deflater, Z_FINISH);
  result.resize(deflater.total_out);
  deflateEnd(&deflater);
  return result;
}

std::string zstd_compressed(std::string_view bytes) {
  std::string result(ZSTD_compressBound(bytes.size()), '\0');
  result.resize(ZSTD_compress(result.data(), result.size(), bytes.data(), bytes.size(), 3));
  return result;
}

std::string in_page(std::string_view bytes) {
  return "<!DOCTYPE html>\n<html>\n<head>\n</head>\n<body>\n<script type=\"module\">\n"
         "import {add_local_files} from \"https://example.org/MemoryViz.js\"\n"
         "const local_files = [{\"name\": \"snapshot.pickle\", \"base64\": \"" +
         base64(bytes) +
         "\"}]\nadd_local_files(local_files, \"Active Memory Timeline\")\n</script>\n</body>\n";
}

}  // namespace fragcast
