#pragma once

#include <string>
#include <string_view>

namespace fragcast {

/// Who wrote a line, as far as what stands before its message tells: "rank 3", "local rank 3",
/// "TP 1", "pid 4711"; empty if nothing does. Knows torchrun's `[rank3]:`, torchelastic's
/// `[default3]:`, mpirun's `[1,3]<stderr>:`, srun's `3:`, Ray's `(Worker pid=4711)`, vLLM's
/// `(Worker_TP1 pid=4711)` and `rank=3` in its spellings.
[[nodiscard]] std::string writer_of(std::string_view prefix);

/// The time that a line begins with, so that times compare as text: "2026-12-01 04:09:00.125", or
/// "12-01 04:09:00" where the log has no years; empty if there is none in the first characters.
[[nodiscard]] std::string time_of(std::string_view line);

/// How much of `next` is the prefix that `first` begins with too, but for the numbers in it: where
/// a log puts its prefix before each line that it wraps.
[[nodiscard]] std::size_t shared_prefix(std::string_view first, std::string_view next);

}  // namespace fragcast
