#include "replay/formats/oom_text.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "replay/formats/log_lines.hpp"
#include "replay/formats/log_prefix.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/wrapped.hpp"

namespace fragcast {
namespace {

constexpr std::string_view npu =
    "NPU out of memory. Tried to allocate 602.00 MiB (NPU 1; 800.00 MiB total capacity; 90.00 MiB "
    "already allocated; 91.00 MiB current active; 98.00 MiB free; 702.00 MiB reserved in total by "
    "PyTorch).If reserved memory is >> allocated memory try setting max_split_size_mb to avoid "
    "fragmentation.";

OomLog log_of(std::string_view text) { return read_oom_log(open_source(text, "train.log")); }

/// The only message of a log.
FoundOom found_in(std::string_view text) {
  const OomLog log = log_of(text);
  INFO(text);
  REQUIRE(log.found.size() == 1);
  return log.found.front();
}

/// As printed, such as "tried 602.00 MiB, total 800.00 MiB"; in the order of OomFigure.
std::string figures_of(const OomMessage& message) {
  std::string text;
  for (std::size_t i = 0; i < oom_figure_count; ++i) {
    const auto figure = static_cast<OomFigure>(i);
    if (const auto& size = message.printed(figure)) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name_of(figure), size->text);
    }
  }
  return text;
}

constexpr std::string_view npu_figures =
    "tried 602.00 MiB, total 800.00 MiB, free 98.00 MiB, allocated 90.00 MiB, active 91.00 MiB, "
    "reserved 702.00 MiB";

}  // namespace

TEST_CASE("torch_npu's message is read, with and without a limit", "[oom_text]") {
  const FoundOom found = found_in(npu);
  CHECK(found.message.wording == OomWording::npu);
  CHECK(found.message.device == 1);
  CHECK_FALSE(found.message.cut);
  CHECK(figures_of(found.message) == npu_figures);
  std::string limited{npu};
  limited.insert(limited.find("702.00"), "750.00 MiB allowed; ");
  CHECK(found_in(limited).message.figure(OomFigure::allowed)->contains(750_MiB));
}

TEST_CASE("torch_npu's rejection is read", "[oom_text]") {
  const FoundOom found = found_in(
      "NPU out of memory. Allocation was preemptively rejected because it would exceed "
      "per_process_memory_fraction limit. Requested size: 64.00 GiB");
  CHECK(found.message.wording == OomWording::npu_rejected);
  CHECK(figures_of(found.message) == "requested 64.00 GiB");
  CHECK_FALSE(found.message.cut);
}

TEST_CASE("the six generations of CUDA's message are read", "[oom_text]") {
  struct Sample {
    OomWording wording;
    std::string_view text;
    std::string_view figures;
  };
  const std::string_view sentences =
      "CUDA out of memory. Tried to allocate 22.78 GiB. GPU 2 has a total capacity of 31.47 GiB of "
      "which 12.73 GiB is free. Including non-PyTorch memory, this process has 18.73 GiB memory in "
      "use. 20.00 GiB allowed; Of the allocated memory 9.08 GiB is allocated by PyTorch, ";
  const std::string with_unallocated = fmt::format(
      "{}{}",
      sentences,
      "and 9.35 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is "
      "large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.");
  const std::string with_pools = fmt::format(
      "{}{}",
      sentences,
      "with 1.25 GiB allocated in private pools (e.g., CUDA Graphs), and 9.35 GiB is reserved by "
      "PyTorch but unallocated.");
  const Sample samples[] = {
      {OomWording::cuda_cached,
       "RuntimeError: CUDA out of memory. Tried to allocate 1024.00 KiB (GPU 2; 11.17 GiB total "
       "capacity; 10.90 GiB already allocated; 576.00 KiB free; 30.96 MiB cached)",
       "tried 1024.00 KiB, total 11.17 GiB, free 576.00 KiB, allocated 10.90 GiB, cached 30.96 "
       "MiB"},
      {OomWording::cuda_reserved,
       "RuntimeError: CUDA out of memory. Tried to allocate 2.00 MiB (GPU 2; 6.00 GiB total "
       "capacity; 4.88 GiB already allocated; 0 bytes free; 4.96 GiB reserved in total by PyTorch)",
       "tried 2.00 MiB, total 6.00 GiB, free 0 bytes, allocated 4.88 GiB, reserved 4.96 GiB"},
      {OomWording::cuda_reserved_hint,
       "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.71 GiB (GPU 2; 6.00 "
       "GiB total capacity; 3.49 GiB already allocated; 1.04 GiB free; 5.00 GiB allowed; 3.50 GiB "
       "reserved in total by PyTorch) If reserved memory is >> allocated memory try setting "
       "max_split_size_mb to avoid fragmentation.",
       "tried 1.71 GiB, total 6.00 GiB, free 1.04 GiB, allowed 5.00 GiB, allocated 3.49 GiB, "
       "reserved 3.50 GiB"},
      {OomWording::cuda_unallocated,
       "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.70 GiB. GPU 2 has a "
       "total capacty of 6.00 GiB of which 0 bytes is free. Process 76883 has 1.00 GiB memory in "
       "use. Process 76884 has 1.50 GiB memory in use. Of the allocated memory 2.93 GiB is "
       "allocated by PyTorch, and 2.30 GiB is reserved by PyTorch but unallocated. If reserved but "
       "unallocated memory is large try setting max_split_size_mb to avoid fragmentation.",
       "tried 1.70 GiB, total 6.00 GiB, free 0 bytes, allocated 2.93 GiB, unallocated 2.30 GiB, "
       "other_processes 1.00 GiB + 1.50 GiB"},
      {OomWording::cuda_expandable,
       with_unallocated,
       "tried 22.78 GiB, total 31.47 GiB, free 12.73 GiB, allowed 20.00 GiB, allocated 9.08 GiB, "
       "unallocated 9.35 GiB, process 18.73 GiB"},
      {OomWording::cuda_private_pools,
       with_pools,
       "tried 22.78 GiB, total 31.47 GiB, free 12.73 GiB, allowed 20.00 GiB, allocated 9.08 GiB, "
       "unallocated 9.35 GiB, in_private_pools 1.25 GiB, process 18.73 GiB"},
  };
  for (const Sample& sample : samples) {
    const FoundOom found = found_in(sample.text);
    CHECK(name_of(found.message.wording) == name_of(sample.wording));
    CHECK(found.message.device == 2);
    CHECK(figures_of(found.message) == sample.figures);
    CHECK_FALSE(found.message.cut);
  }
}

TEST_CASE("two processes' memory is added", "[oom_text]") {
  const auto message = parse_oom(
      "Tried to allocate 1.70 GiB. GPU 0 has a total capacity of 6.00 GiB of which 0 bytes is "
      "free. Process 1 has 1.00 GiB memory in use. Process 2 has 1.50 GiB memory in use.");
  REQUIRE(message.has_value());
  CHECK(message->figure(OomFigure::other_processes)->contains(2560_MiB));
  CHECK(message->cut);
}

TEST_CASE("the driver's own error has no figures", "[oom_text]") {
  const FoundOom found = found_in("RuntimeError: CUDA error: out of memory\n");
  CHECK(found.message.wording == OomWording::cuda_driver);
  CHECK(found.message.figure_count() == 0);
}

TEST_CASE("a prefix tells who wrote a line", "[oom_text]") {
  const auto writer = [](std::string_view prefix) {
    return found_in(fmt::format("{}{}\n", prefix, npu)).writer;
  };
  CHECK(writer("[rank3]: RuntimeError: ") == "rank 3");
  CHECK(writer("[default2]:RuntimeError: ") == "local rank 2");
  CHECK(writer("[1,5]<stderr>:") == "rank 5");
  CHECK(writer(" 7: RuntimeError: ") == "rank 7");
  CHECK(writer("(RayWorkerWrapper pid=4711, ip=10.0.0.1) RuntimeError: ") == "pid 4711");
  CHECK(writer("(Worker_TP1 pid=4711) ") == "TP 1");
  CHECK(writer("[2026-12-01 04:00:00 DP0 TP3] Scheduler hit: ") == "TP 3");
  CHECK(writer("(VllmWorker rank=4 pid=99) ERROR ") == "rank 4");
  CHECK(writer("[2026-12-01 04:00:00,123][Rank 12][ERROR] ") == "rank 12");
  CHECK(writer("local_rank: 1 RuntimeError: ") == "local rank 1");
  CHECK(writer("\x1b[36m(WorkerDict pid=12)\x1b[0m RuntimeError: ") == "pid 12");
  CHECK(writer("^[[36m(WorkerDict pid=12)^[[0m RuntimeError: ") == "pid 12");
  CHECK(writer("RuntimeError: ").empty());
  CHECK(writer("crank3 output at step 17: ").empty());
}

TEST_CASE("a line's time is told in a form that compares as text", "[oom_text]") {
  CHECK(time_of("2026-12-01 04:09:00,125 ERROR x") == "2026-12-01 04:09:00.125");
  CHECK(time_of("[2026-12-01T04:09:00.125Z] x") == "2026-12-01 04:09:00.125");
  CHECK(time_of("[Stage-0] ERROR 03-23 04:09:00 [worker.py:430] x") == "03-23 04:09:00");
  CHECK(time_of("step 17, 04:09:00 left").empty());
  CHECK(time_of("").empty());
}

TEST_CASE("the time of a message is the last that was seen up to it", "[oom_text]") {
  const std::string text = fmt::format("2026-12-01 04:09:00 start\nTraceback\n{}\n", npu);
  CHECK(found_in(text).time == "2026-12-01 04:09:00");
  CHECK(found_in(text).line == 3);
}

TEST_CASE("a message is read however the log has wrapped it", "[oom_text]") {
  for (std::size_t width = 24; width < npu.size(); width += 7) {
    for (const std::string_view prefix : {"", "[rank3]: ", "(W pid=12) \x1b[31m", "04:00:01 3: "}) {
      std::string text;
      for (std::size_t at = 0; at < npu.size(); at += width) {
        text += fmt::format("{}{}\n", prefix, npu.substr(at, width));
      }
      INFO(text);
      const FoundOom found = found_in(text + "a last line\n");
      CHECK(figures_of(found.message) == npu_figures);
      CHECK(found.message.device == 1);
      CHECK(found.line == 1);
    }
  }
}

TEST_CASE("a message that breaks off has the figures up to there", "[oom_text]") {
  const std::string text = fmt::format(
      "[Bug]: {}\nthe next line\n{}\n", npu.substr(0, npu.find(" 91.00")), "RuntimeError: x");
  const FoundOom found = found_in(text);
  CHECK(found.message.cut);
  CHECK(figures_of(found.message) == "tried 602.00 MiB, total 800.00 MiB, allocated 90.00 MiB");
}

TEST_CASE("lines that only mention it are counted", "[oom_text]") {
  const OomLog log = log_of(
      "RuntimeError: CUDA out of memory. \nexcept: # NPU out of memory. retry\nTried to allocate "
      "too much\n");
  CHECK(log.found.empty());
  CHECK(log.mentions == 2);
  CHECK(log.first_mention == 1);
  CHECK(log.lines == 3);
}

TEST_CASE("a line that mentions it again and again counts once", "[oom_text]") {
  std::string text;
  while (text.size() < 3 * LogLines::longest) text += "CUDA out of memory. ";
  CHECK(log_of(text + "\n" + text).mentions == 2);
}

TEST_CASE("what the same writer repeats is counted", "[oom_text]") {
  const std::string one = fmt::format("[rank1]: {}\n", npu);
  const OomLog log = log_of(one + one + fmt::format("[rank2]: {}\n", npu) + one);
  REQUIRE(log.found.size() == 2);
  CHECK(log.found[0].times == 3);
  CHECK(log.found[1].times == 1);
  CHECK(log.found[1].line == 3);
}

TEST_CASE("two messages on one line are two", "[oom_text]") {
  std::string other{npu};
  other.replace(other.find("602"), 3, "603");
  const OomLog log = log_of(fmt::format("{{\"a\": \"{}\", \"b\": \"{}\"}}", npu, other));
  CHECK(log.found.size() == 2);
}

TEST_CASE("a log's lines may have any length, and end as they like", "[oom_text]") {
  const std::string noise(3 * LogLines::longest + 17, '#');
  CHECK(figures_of(found_in(noise + std::string{npu} + noise).message) == npu_figures);
  CHECK(found_in(fmt::format(" 10%|#    |\r 20%|##   |\r{}\r\n", npu)).line == 1);
  // The line's pieces part within the message.
  for (std::size_t before = LogLines::longest - 300; before < LogLines::longest; before += 11) {
    CHECK(figures_of(found_in(std::string(before, ' ') + std::string{npu}).message) == npu_figures);
  }
}

TEST_CASE("compressed, binary and cut logs are read as far as they go", "[oom_text]") {
  const std::string text = fmt::format("a line\n{}\n", npu);
  CHECK(found_in(gzipped(text)).line == 2);
  CHECK(found_in(zstd_compressed(text)).line == 2);
  const OomLog binary = log_of(std::string_view{"\0\0\0CUDA\0", 8});
  CHECK(binary.binary);
  CHECK(binary.found.empty());
  const std::string whole = gzipped(text);
  CHECK_FALSE(log_of(std::string_view{whole}.substr(0, whole.size() - 9)).cut.empty());
}

}  // namespace fragcast
