#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "replay/formats/input_error.hpp"
#include "sim/core/bytes.hpp"

namespace fragcast {

/// The largest size that is read: sums of two such sizes still fit.
inline constexpr Bytes largest_size{std::int64_t{1} << 62};

/// Reads a size: plain bytes (`33554432`) or a number with a binary unit (`32GiB`, `1.5GiB`,
/// `512K`; K, M, G, T with or without `iB`, in any case). Fractions of a byte are rounded to the
/// nearest. Throws InputError at `where` for anything else; `MB` and its like are refused, as one
/// cannot tell which of two meanings is meant.
[[nodiscard]] Bytes parse_size(std::string_view text, const InputPosition& where);

/// For people: three significant figures and a binary unit, "551 MiB", "1.23 GiB", "0 B".
[[nodiscard]] std::string human_size(Bytes size);

/// Exact, for people: "551,550,976 B".
[[nodiscard]] std::string exact_bytes(Bytes size);

/// A count with thousands separators: "5,473".
[[nodiscard]] std::string grouped(std::int64_t count);

}  // namespace fragcast
