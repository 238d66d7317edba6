#include "replay/explain/oom.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace fragcast {
namespace {

using Figure = OomFigure;

// ---- what follows from the figures -------------------------------------------------------------

std::optional<SizeRange> sum(std::optional<SizeRange> a, std::optional<SizeRange> b) {
  return a && b ? std::optional{*a + *b} : std::nullopt;
}
std::optional<SizeRange> difference(std::optional<SizeRange> a, std::optional<SizeRange> b) {
  return a && b ? std::optional{*a - *b} : std::nullopt;
}
std::optional<SizeRange> amount(std::optional<SizeRange> range) {
  return range ? std::optional{at_least_zero(*range)} : std::nullopt;
}

/// Reserved memory is printed, or is what is allocated and what is cached beside it. What CUDA
/// calls allocated includes what is free in private pools.
std::optional<SizeRange> reserved_of(const OomMessage& message) {
  if (const auto reserved = message.figure(Figure::reserved)) return reserved;
  const auto allocated = message.figure(Figure::allocated);
  if (const auto cached = message.figure(Figure::cached)) return sum(allocated, cached);
  return sum(allocated, message.figure(Figure::unallocated));
}

std::optional<SizeRange> cached_of(const OomMessage& message) {
  if (const auto cached = message.figure(Figure::cached)) return cached;
  if (const auto unallocated = message.figure(Figure::unallocated)) {
    if (!message.printed(Figure::in_private_pools)) return unallocated;
    return sum(unallocated, message.figure(Figure::in_private_pools));
  }
  return amount(difference(message.figure(Figure::reserved), message.figure(Figure::allocated)));
}

std::optional<SizeRange> allocated_of(const OomMessage& message) {
  const auto allocated = message.figure(Figure::allocated);
  if (!message.printed(Figure::in_private_pools)) return allocated;
  return amount(difference(allocated, message.figure(Figure::in_private_pools)));
}

/// What is tried is a segment. By the rules that all releases share, 2 MiB serve any request up to
/// 1 MiB, 20 MiB any up to 10 MiB, and larger ones are rounded up to 2 MiB.
std::optional<SizeRange> request_of(const OomMessage& message) {
  if (const auto requested = message.figure(Figure::requested)) return requested;
  const auto tried = message.figure(Figure::tried);
  if (!tried) return std::nullopt;
  if (tried->contains(2_MiB)) return SizeRange{.least = 1_B, .most = tried->most};
  if (tried->contains(20_MiB)) return SizeRange{.least = 1_MiB, .most = tried->most};
  return at_least_zero({.least = tried->least - 2_MiB, .most = tried->most});
}

// ---- the causes
// ----------------------------------------------------------------------------------

/// What a cause is looked for in.
struct OomCase {
  const OomMessage& message;
  const OomJudgement& judged;
  const OomThresholds& thresholds;

  [[nodiscard]] std::optional<SizeRange> figure(Figure figure) const {
    return message.figure(figure);
  }
};

/// Whether `a` is larger than `b`: for some of what they can be, for all.
struct Larger {
  bool possible = false;
  bool certain = false;
};

Larger larger(const std::optional<SizeRange>& a, const std::optional<SizeRange>& b) {
  if (!a || !b) return {};
  return {.possible = a->most > b->least, .certain = a->least > b->most};
}

Larger at_least(const std::optional<SizeRange>& a, const std::optional<SizeRange>& b) {
  if (!a || !b) return {};
  return {.possible = a->most >= b->least, .certain = a->least >= b->most};
}

/// An amount against a share of the device's memory.
Larger above_share(const std::optional<SizeRange>& amount, const OomCase& of, double share) {
  const auto total = of.figure(Figure::total);
  if (!total || !amount) return {};
  const auto part = [share](Bytes size) {
    return Bytes{static_cast<std::int64_t>(share * static_cast<double>(size.count()))};
  };
  return larger(amount, SizeRange{.least = part(total->least), .most = part(total->most)});
}

std::string share_text(std::string_view what, double share) {
  return fmt::format("{} above {:.4g} of the total", what, share);
}

bool is_npu(const OomMessage& message) {
  return message.wording == OomWording::npu || message.wording == OomWording::npu_rejected;
}

std::string_view snapshot_hint(const OomMessage& message) {
  return is_npu(message) ? "torch_npu.npu.memory._record_memory_history(), then _dump_snapshot()"
                         : "torch.cuda.memory._record_memory_history(), then _dump_snapshot()";
}

std::optional<OomFinding> capacity(const OomCase& of) {
  const auto tried = of.figure(Figure::tried);
  const Larger above = larger(tried, of.judged.best);
  if (!above.possible) return std::nullopt;
  const SizeRange best = *of.judged.best;
  const bool even_the_request = of.judged.request->least > best.most;
  OomFinding finding{
      .cause = OomCause::capacity,
      .bytes = at_least_zero(*tried - best),
      .certain = above.certain && even_the_request,
      .evidence = fmt::format("{} tried, while free and cached memory come to {} together",
                              range_text(*tried),
                              range_text(best)),
      .threshold = "tried > free + reserved - allocated",
      .next =
          "no setting can help: need less (a smaller batch or sequence, recomputation, "
          "offloading), or more device memory"};
  if (!finding.certain) {
    finding.next = above.certain
                       ? fmt::format(
                             "the request itself may be as small as {}: record a snapshot "
                             "({}), then fragcast fit SNAPSHOT",
                             range_text({of.judged.request->least, of.judged.request->least}),
                             snapshot_hint(of.message))
                       : "the rounded figures leave open whether any setting can help";
  }
  return finding;
}

std::optional<OomFinding> rejection(const OomCase& of) {
  return OomFinding{.cause = OomCause::fraction,
                    .bytes = of.figure(Figure::requested),
                    .evidence =
                        "refused before the device was asked: it would have exceeded "
                        "per_process_memory_fraction",
                    .threshold = "the message says so",
                    .next =
                        "raise per_process_memory_fraction, or leave throw_on_npumalloc_oom "
                        "out so that the cache is flushed first"};
}

std::optional<OomFinding> fraction(const OomCase& of) {
  if (of.message.wording == OomWording::npu_rejected) return rejection(of);
  const auto allowed = of.figure(Figure::allowed);
  const auto wanted = sum(of.judged.reserved, of.figure(Figure::tried));
  const Larger above = larger(wanted, allowed);
  // The device has the memory, or would have it if the cache were given back, but the limit has
  // not.
  const Larger free = at_least(of.figure(Figure::free), of.figure(Figure::tried));
  const Larger never = larger(of.figure(Figure::tried), of.judged.best_within_limit);
  const Larger fits = at_least(of.judged.best, of.figure(Figure::tried));
  const bool possible = free.possible || (never.possible && fits.possible);
  if (!above.possible || !possible) return std::nullopt;
  return OomFinding{
      .cause = OomCause::fraction,
      .bytes = at_least_zero(*wanted - *allowed),
      .certain = above.certain && (free.certain || (never.certain && fits.certain)),
      .evidence = fmt::format("{} are free on the device, but reserved memory would be {} and {} "
                              "are allowed",
                              range_text(*of.figure(Figure::free)),
                              range_text(*wanted),
                              range_text(*allowed)),
      .threshold =
          "reserved + tried > allowed, and the device has it: free >= tried, or "
          "allowed - allocated < tried <= free + cached",
      .next = "raise set_per_process_memory_fraction() or per_process_memory_fraction"};
}

std::optional<OomFinding> driver(const OomCase& of) {
  if (of.message.wording == OomWording::cuda_driver) {
    return OomFinding{.cause = OomCause::driver,
                      .bytes = {},
                      .evidence = "the error is the driver's own, not the caching allocator's",
                      .threshold = "the message says so",
                      .next =
                          "look at what else uses the device (contexts, communication buffers, "
                          "libraries), and leave them room"};
  }
  const auto tried = of.figure(Figure::tried);
  const Larger fits = at_least(of.figure(Figure::free), tried);
  if (!fits.possible || of.message.printed(Figure::allowed)) return std::nullopt;
  return OomFinding{
      .cause = OomCause::driver,
      .bytes = tried,
      .certain = fits.certain,
      .evidence = fmt::format("{} are free on the device, {} were tried, and no limit is named",
                              range_text(*of.figure(Figure::free)),
                              range_text(*tried)),
      .threshold = "free >= tried, nothing allowed is named",
      .next =
          "the driver refused, or another process gave memory back in between: look at the "
          "device's own log and at a limit on the process (container, virtual device)"};
}

std::string processes_text(const OomCase& of) {
  std::string text;
  if (const auto process = of.figure(Figure::process); process && of.judged.reserved) {
    text += fmt::format("; of that {} are this process's own, outside its allocator",
                        range_text(at_least_zero(*process - *of.judged.reserved)));
  }
  if (const auto others = of.figure(Figure::other_processes)) {
    text += fmt::format("; processes named by number use {}", range_text(*others));
  }
  return text;
}

std::optional<OomFinding> outside(const OomCase& of) {
  const Larger above = above_share(of.judged.others, of, of.thresholds.outside);
  if (!above.possible) return std::nullopt;
  return OomFinding{
      .cause = OomCause::outside,
      .bytes = at_least_zero(*of.judged.others),
      .certain = above.certain,
      .evidence = fmt::format("{} of {} are neither reserved here nor free{}",
                              range_text(*of.judged.others),
                              range_text(*of.figure(Figure::total)),
                              processes_text(of)),
      .threshold = share_text("total - reserved - free", of.thresholds.outside),
      .next =
          "look for other processes on the device, communication buffers, workspaces and the "
          "context"};
}

std::optional<OomFinding> streams(const OomCase& of) {
  const Larger above = above_share(of.judged.pending, of, of.thresholds.streams);
  if (!above.possible) return std::nullopt;
  return OomFinding{
      .cause = OomCause::streams,
      .bytes = of.judged.pending,
      .certain = above.certain,
      .evidence = fmt::format("{} are freed, but other streams still use them",
                              range_text(*of.judged.pending)),
      .threshold = share_text("active - allocated", of.thresholds.streams),
      .next = "synchronise, or free earlier, where tensors cross streams (record_stream)"};
}

std::optional<OomFinding> private_pools(const OomCase& of) {
  const auto pools = of.figure(Figure::in_private_pools);
  const Larger above = above_share(pools, of, of.thresholds.private_pools);
  if (!above.possible) return std::nullopt;
  return OomFinding{
      .cause = OomCause::private_pools,
      .bytes = pools,
      .certain = above.certain,
      .evidence = fmt::format("{} are free in private pools, where only their graphs can use them",
                              range_text(*pools)),
      .threshold = share_text("free in private pools", of.thresholds.private_pools),
      .next =
          "let graphs share a pool, capture the largest first, or drop graphs before memory is "
          "wanted elsewhere"};
}

/// What of the cache is neither pending nor in a private pool.
std::optional<SizeRange> usable_cache(const OomCase& of) {
  auto cache = of.judged.cached;
  if (of.judged.pending) cache = amount(difference(cache, of.judged.pending));
  if (of.message.printed(Figure::in_private_pools)) cache = of.figure(Figure::unallocated);
  return cache;
}

std::optional<OomFinding> fragmentation_of(const OomCase& of,
                                           const std::optional<SizeRange>& cache) {
  const auto tried = of.figure(Figure::tried);
  const auto free = of.figure(Figure::free);
  const Larger enough = at_least(sum(free, cache), tried);
  const Larger short_of = larger(tried, free);
  const bool limited = of.message.printed(Figure::allowed).has_value();
  const Larger within = limited ? at_least(of.judged.best_within_limit, tried)
                                : Larger{.possible = true, .certain = true};
  if (!enough.possible || !within.possible || (!short_of.possible && !limited)) return std::nullopt;
  const std::string room = limited ? fmt::format("within the limit, which leaves room for {}",
                                                 range_text(*of.judged.best_within_limit))
                                   : fmt::format("and {} free on the device", range_text(*free));
  return OomFinding{
      .cause = OomCause::fragmentation,
      .bytes = cache,
      .certain = enough.certain && within.certain && (short_of.certain || limited),
      .evidence = fmt::format("{} are cached {}, enough for {} together, but not in one piece",
                              range_text(*cache),
                              room,
                              range_text(*tried)),
      .threshold = limited ? "tried <= free + cached, tried <= allowed - allocated"
                           : "tried <= free + cached",
      .next = fmt::format("record a snapshot ({}), then fragcast compare SNAPSHOT --setting "
                          "expandable_segments:True",
                          snapshot_hint(of.message))};
}

std::optional<OomFinding> fragmentation(const OomCase& of) {
  return fragmentation_of(of, usable_cache(of));
}

using Cause = std::optional<OomFinding> (*)(const OomCase&);
constexpr std::array<Cause, 7> causes{
    capacity, fraction, driver, outside, streams, private_pools, fragmentation};

OomFinding unknown(const OomMessage& message) {
  return {.cause = OomCause::unknown,
          .bytes = {},
          .certain = true,
          .evidence = message.cut ? "the message is cut off before the figures that tell"
                                  : "its figures do not tell",
          .threshold = "",
          .next = message.cut ? "look for the whole message in the log"
                              : fmt::format("record a snapshot ({}), then fragcast info SNAPSHOT",
                                            snapshot_hint(message))};
}

// ---- what is odd
// -----------------------------------------------------------------------------------

std::vector<std::string> remarks_on(const OomMessage& message, const OomJudgement& judged) {
  std::vector<std::string> remarks;
  for (std::size_t i = 0; i < oom_figure_count; ++i) {
    const auto figure = static_cast<Figure>(i);
    const auto& printed = message.printed(figure);
    if (!printed || !printed->impossible) continue;
    remarks.push_back(
        fmt::format("{} {} is no size but a negative amount: nothing is computed "
                    "with it",
                    printed->text,
                    label_of(figure)));
  }
  if (message.cut) remarks.emplace_back("the message is cut off: figures are missing");
  if (judged.others && judged.others->most < 0_B) {
    remarks.emplace_back(
        "reserved and free memory come to more than the device has: memory spills to the host, or "
        "the figures are of different moments");
  }
  return remarks;
}

}  // namespace

OomJudgement judge(const OomMessage& message, const OomThresholds& thresholds) {
  OomJudgement judged;
  judged.allocated = allocated_of(message);
  judged.reserved = reserved_of(message);
  judged.cached = cached_of(message);
  judged.pending =
      amount(difference(message.figure(Figure::active), message.figure(Figure::allocated)));
  judged.others = difference(difference(message.figure(Figure::total), judged.reserved),
                             message.figure(Figure::free));
  judged.request = request_of(message);
  judged.best = amount(sum(message.figure(Figure::free), judged.cached));
  const auto left = amount(difference(message.figure(Figure::allowed), judged.allocated));
  if (judged.best && left) judged.best_within_limit = smaller(*judged.best, *left);
  judged.remarks = remarks_on(message, judged);

  const OomCase of{.message = message, .judged = judged, .thresholds = thresholds};
  std::vector<OomFinding> findings;
  for (const Cause cause : causes) {
    if (auto finding = cause(of)) findings.push_back(std::move(*finding));
  }
  if (findings.empty()) {
    // Then what other streams and private pools hold is not much, and part of the scatter.
    auto scattered = fragmentation_of(of, judged.cached);
    findings.push_back(scattered ? std::move(*scattered) : unknown(message));
  }
  const auto size = [](const OomFinding& finding) {
    return finding.bytes ? finding.bytes->middle() : 0_B;
  };
  std::stable_sort(findings.begin(), findings.end(), [&](const auto& a, const auto& b) {
    return size(a) > size(b);
  });
  judged.findings = std::move(findings);
  return judged;
}

std::string_view name_of(OomCause cause) {
  switch (cause) {
    case OomCause::capacity:
      return "capacity";
    case OomCause::fraction:
      return "fraction";
    case OomCause::driver:
      return "driver";
    case OomCause::outside:
      return "outside";
    case OomCause::streams:
      return "streams";
    case OomCause::private_pools:
      return "private_pools";
    case OomCause::fragmentation:
      return "fragmentation";
    case OomCause::unknown:
      return "unknown";
  }
  return "";
}

}  // namespace fragcast
