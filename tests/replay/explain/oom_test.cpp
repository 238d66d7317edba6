#include "replay/explain/oom.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "replay/formats/oom_text.hpp"
#include "tests/support/catch.hpp"

namespace fragcast {
namespace {

/// The figures of torch_npu's message, in its order.
struct Npu {
  std::string_view tried;
  std::string_view total;
  std::string_view allocated;
  std::string_view active;
  std::string_view free;
  std::string_view reserved;
  std::string_view allowed = {};
};

OomMessage message_of(const Npu& npu) {
  const auto message = parse_oom(fmt::format(
      "NPU out of memory. Tried to allocate {} (NPU 0; {} total capacity; {} already allocated; {} "
      "current active; {} free; {}{}{} reserved in total by PyTorch).",
      npu.tried,
      npu.total,
      npu.allocated,
      npu.active,
      npu.free,
      npu.allowed,
      npu.allowed.empty() ? "" : " allowed; ",
      npu.reserved));
  REQUIRE(message.has_value());
  REQUIRE_FALSE(message->cut);
  return *message;
}

/// "fragmentation, fraction?": a question mark where only some of what the figures can mean.
std::string causes_of(const OomJudgement& judged) {
  std::string text;
  for (const OomFinding& finding : judged.findings) {
    text += fmt::format(
        "{}{}{}", text.empty() ? "" : ", ", name_of(finding.cause), finding.certain ? "" : "?");
  }
  return text;
}

std::string causes_of(const Npu& npu) { return causes_of(judge(message_of(npu))); }

std::string causes_of(std::string_view text) {
  const auto message = parse_oom(text);
  REQUIRE(message.has_value());
  return causes_of(judge(*message));
}

}  // namespace

TEST_CASE("enough is free, but not in one piece: fragmentation", "[oom]") {
  const OomJudgement judged = judge(message_of({.tried = "10.85 GiB",
                                                .total = "15.62 GiB",
                                                .allocated = "480.01 MiB",
                                                .active = "480.01 MiB",
                                                .free = "4.78 GiB",
                                                .reserved = "10.85 GiB"}));
  CHECK(causes_of(judged) == "fragmentation");
  // 4.78 + 10.85 − 0.469 GiB, half a hundredth of a GiB to either side twice.
  CHECK(range_text(*judged.best) == "15.15 GiB..15.17 GiB");
  CHECK(range_text(*judged.others) == "-25.60 MiB..5.12 MiB");
  CHECK(judged.findings[0].threshold == "tried <= free + cached");
}

TEST_CASE("more than is free and cached together: capacity, no setting can help", "[oom]") {
  const OomJudgement judged = judge(message_of({.tried = "602.00 MiB",
                                                .total = "800.00 MiB",
                                                .allocated = "500.00 MiB",
                                                .active = "500.00 MiB",
                                                .free = "98.00 MiB",
                                                .reserved = "702.00 MiB"}));
  CHECK(causes_of(judged) == "capacity");
  CHECK(judged.findings[0].bytes->contains(302_MiB));
  CHECK(judged.findings[0].next.starts_with("no setting can help"));
}

TEST_CASE("what the rounding leaves open is called open", "[oom]") {
  CHECK(causes_of({.tried = "1.50 GiB",
                   .total = "8.00 GiB",
                   .allocated = "7.00 GiB",
                   .active = "7.00 GiB",
                   .free = "512.00 MiB",
                   .reserved = "8.00 GiB"}) == "fragmentation?, capacity?");
}

TEST_CASE("a segment may be tried for a request that is far smaller", "[oom]") {
  const OomJudgement judged = judge(message_of({.tried = "20.00 MiB",
                                                .total = "800.00 MiB",
                                                .allocated = "790.00 MiB",
                                                .active = "790.00 MiB",
                                                .free = "2.00 MiB",
                                                .reserved = "798.00 MiB"}));
  CHECK(causes_of(judged) == "capacity?");
  CHECK(judged.request->least == 1_MiB);
  CHECK(judged.findings[0].next.starts_with("the request itself may be as small as 1024.00 KiB"));
}

TEST_CASE("the device has it, the limit does not: fraction", "[oom]") {
  const OomJudgement judged = judge(message_of({.tried = "144.00 MiB",
                                                .total = "9.00 GiB",
                                                .allocated = "6.10 GiB",
                                                .active = "6.10 GiB",
                                                .free = "2.83 GiB",
                                                .reserved = "6.17 GiB",
                                                .allowed = "6.20 GiB"}));
  CHECK(causes_of(judged) == "fraction");
  CHECK(judged.best_within_limit->contains(102_MiB));
  CHECK(judged.best->contains(2969_MiB));
}

TEST_CASE("within a limit it may be fragmentation, too", "[oom]") {
  CHECK(causes_of({.tried = "144.00 MiB",
                   .total = "9.00 GiB",
                   .allocated = "5.91 GiB",
                   .active = "5.91 GiB",
                   .free = "2.83 GiB",
                   .reserved = "6.17 GiB",
                   .allowed = "6.20 GiB"}) == "fragmentation, fraction");
}

TEST_CASE("a rejection is a fraction's", "[oom]") {
  CHECK(causes_of("NPU out of memory. Allocation was preemptively rejected because it would exceed "
                  "per_process_memory_fraction limit. Requested size: 64.00 GiB") == "fraction");
}

TEST_CASE("the device has it and no limit is named: the driver", "[oom]") {
  CHECK(causes_of("CUDA out of memory. Tried to allocate 8.13 GiB (GPU 0; 10.76 GiB total "
                  "capacity; 643.57 MiB already allocated; 8.20 GiB free; 32.43 MiB cached)") ==
        "driver");
  OomMessage of_driver;
  of_driver.wording = OomWording::cuda_driver;
  CHECK(causes_of(judge(of_driver)) == "driver");
}

TEST_CASE("a fifth of the device held by others is worth a look outside", "[oom]") {
  const Npu npu{.tried = "4.00 GiB",
                .total = "64.00 GiB",
                .allocated = "10.00 GiB",
                .active = "10.00 GiB",
                .free = "1.00 GiB",
                .reserved = "20.00 GiB"};
  CHECK(causes_of(npu) == "outside, fragmentation");
  const OomJudgement judged = judge(message_of(npu));
  CHECK(judged.findings[0].bytes->contains(43_GiB));
  CHECK(judged.findings[0].threshold == "total - reserved - free above 0.2 of the total");
  CHECK(causes_of(judge(message_of(npu), {.outside = 0.7})) == "fragmentation");
}

TEST_CASE("much that other streams still use is said to be theirs", "[oom]") {
  const Npu npu{.tried = "602.00 MiB",
                .total = "800.00 MiB",
                .allocated = "90.00 MiB",
                .active = "390.00 MiB",
                .free = "98.00 MiB",
                .reserved = "702.00 MiB"};
  // Without those 300 MiB, 312 + 98 are not enough in any arrangement.
  CHECK(causes_of(npu) == "streams");
  CHECK(judge(message_of(npu)).findings[0].bytes->contains(300_MiB));
  // Who does not call that large has them among what is scattered.
  CHECK(causes_of(judge(message_of(npu), {.streams = 0.5})) == "fragmentation");
}

TEST_CASE("what CUDA calls allocated includes what is free in private pools", "[oom]") {
  const auto message = parse_oom(
      "CUDA out of memory. Tried to allocate 8.00 GiB. GPU 0 has a total capacity of 80.00 GiB of "
      "which 1.00 GiB is free. Of the allocated memory 60.00 GiB is allocated by PyTorch, with "
      "20.00 GiB allocated in private pools (e.g., CUDA Graphs), and 5.00 GiB is reserved by "
      "PyTorch but unallocated.");
  REQUIRE(message.has_value());
  const OomJudgement judged = judge(*message);
  CHECK(judged.allocated->contains(40_GiB));
  CHECK(judged.reserved->contains(65_GiB));
  CHECK(judged.best->contains(26_GiB));
  CHECK(causes_of(judged) == "private_pools");
  CHECK(judged.findings[0].bytes->contains(20_GiB));
}

TEST_CASE("up to torch 1.3, what is cached is not allocated", "[oom]") {
  const auto message = parse_oom(
      "CUDA out of memory. Tried to allocate 1.72 GiB (GPU 0; 10.76 GiB total capacity; 4.01 GiB "
      "already allocated; 356.00 MiB free; 5.54 GiB cached)");
  REQUIRE(message.has_value());
  const OomJudgement judged = judge(*message);
  CHECK(range_text(*judged.reserved) == "9.54 GiB..9.56 GiB");
  CHECK(causes_of(judged) == "fragmentation");
}

TEST_CASE("nothing is computed with an impossible figure", "[oom]") {
  const OomJudgement judged = judge(message_of({.tried = "602.00 MiB",
                                                .total = "800.00 MiB",
                                                .allocated = "90.00 MiB",
                                                .active = "90.00 MiB",
                                                .free = "17179869184.00 GiB",
                                                .reserved = "702.00 MiB"}));
  CHECK(causes_of(judged) == "unknown");
  CHECK_FALSE(judged.best.has_value());
  CHECK_FALSE(judged.others.has_value());
  REQUIRE(judged.remarks.size() == 1);
  CHECK(judged.remarks[0].starts_with("17179869184.00 GiB free on the device is no size"));
}

TEST_CASE("a message that breaks off says no more than it has", "[oom]") {
  CHECK(causes_of("NPU out of memory. Tried to allocate 52.00 MiB (NPU 0; 60.96 GiB total "
                  "capacity; 59.36 GiB already allocated;") == "unknown");
}

TEST_CASE("more reserved than the device has is remarked, and no others are made of it", "[oom]") {
  const auto message = parse_oom(
      "CUDA out of memory. Tried to allocate 10.73 GiB (GPU 0; 8.00 GiB total capacity; 17.20 GiB "
      "already allocated; 0 bytes free; 19.15 GiB reserved in total by PyTorch)");
  REQUIRE(message.has_value());
  const OomJudgement judged = judge(*message);
  CHECK(causes_of(judged) == "capacity");
  REQUIRE(judged.remarks.size() == 1);
  CHECK(judged.remarks[0].starts_with("reserved and free memory come to more"));
}

}  // namespace fragcast
